/** Where the bytes of volumes lie (docs/reference/volumes.md). */
import { objectContradictions, objectSettings } from "../../adapters/objects/port.ts";
import { choice, type Values } from "../../config/setting.ts";

export const volumeSettings = {
  storageBackend: choice("SVC_STORAGE_BACKEND", {
    meaning: "where the files of new volumes lie: in folders below SVC_STORAGE_ROOT, or in an S3-compatible store",
    of: ["local", "s3"],
    default: "local",
  }),
  ...objectSettings,
};
export type VolumeSettings = Values<typeof volumeSettings>;

/** What no single setting shows, as sentences. */
export function volumeContradictions(settings: Partial<VolumeSettings>): readonly string[] {
  return settings.storageBackend === "s3" ? objectContradictions(settings) : [];
}
