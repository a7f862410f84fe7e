/** Where the bytes of volumes lie (docs/reference/volumes.md). */
import { choice } from "../../config/setting.ts";

export const volumeSettings = {
  storageBackend: choice("SVC_STORAGE_BACKEND", {
    meaning: "where the files of volumes lie: in folders below SVC_STORAGE_ROOT, or in an S3-compatible store",
    of: ["local", "s3"],
    default: "local",
  }),
};
