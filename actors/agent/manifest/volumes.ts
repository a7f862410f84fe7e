/** `spec.volumes`: what is mounted at `/workspace` and below. */

import type { Fields } from "../../manifest/fields.ts";
import { normalPath } from "../../manifest/paths.ts";
import { readBytes } from "../../manifest/quantities.ts";
import { isWithin } from "../../policy/filesystem/mounts.ts";
import { agentName } from "./metadata.ts";
import type { VolumeSpec } from "./spec.ts";

const maxVolumes = 8;
const hour = 3600_000;
const Mi = 2 ** 20;
const Ti = 2 ** 40;
/** Where every run has a volume, its own or one made for it. */
export const workspace = "/workspace";

const uuid = {
  pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  form: "a volume's id",
};
/** Control characters have no place in a path that people read in lists, nor have wildcards where a place is meant. */
const plainPath = { min: 1, max: 1024, pattern: /^\/[^\p{Cc}*]*$/u, form: "an absolute path" };

export function readVolumes(spec: Fields): readonly VolumeSpec[] {
  const taken: VolumeSpec[] = [];
  for (const fields of spec.sections("volumes", maxVolumes)) {
    const volume = readVolume(fields);
    if (volume === null) continue;
    if (taken.some(({ name }) => name === volume.name)) fields.issue("name", "is the name of another volume");
    const overlapping = taken.find((other) => overlap(volume.mount_path, other.mount_path));
    if (overlapping !== undefined) fields.issue("mount_path", `overlaps ${overlapping.mount_path}`);
    taken.push(volume);
  }
  return taken;
}

/** Two mounts may not be at the same place or one in the other, except that all are below `/workspace` itself. */
export function overlap(one: string, other: string): boolean {
  if (one === other) return true;
  return one !== workspace && other !== workspace && (isWithin(one, other) || isWithin(other, one));
}

function readVolume(fields: Fields): VolumeSpec | null {
  checkType(fields);
  const name = fields.requiredText("name", agentName);
  const mount_path = readMountPath(fields);
  const source_volume_id = readSource(fields);
  const storageClass = fields.choice("storage_class", ["ephemeral", "persistent"]);
  if (source_volume_id !== null && storageClass !== null) {
    fields.issue("storage_class", "says nothing about a volume that exists already");
  }
  const storage_class = source_volume_id === null ? (storageClass ?? "ephemeral") : "persistent";
  const rest = {
    storage_class,
    access_mode: fields.choice("access_mode", ["read-only", "read-write"]) ?? "read-write",
    // Members that say nothing about this volume are left unread, and so told to have no effect.
    size_limit_bytes: (source_volume_id === null ? readSize(fields) : null) ?? 256 * Mi,
    ttl_ms: ((storage_class === "ephemeral" ? fields.integer("ttl_hours", { min: 1, max: 720 }) : null) ?? 24) * hour,
    source_volume_id,
  } as const;
  fields.close();
  return name === null || mount_path === null ? null : { name, mount_path, ...rest };
}

function readSize(fields: Fields): number | null {
  return fields.measure("size_limit", readBytes, "quantity", { min: 1, max: Ti }, "1 byte to 1Ti");
}

/** Only volumes the service manages are mounted; directories of a host are opened to nobody. */
function checkType(fields: Fields): void {
  const type = fields.text("type", { min: 1, max: 64 });
  if (type === null || type === "managed" || type === "seaweedfs") return;
  if (type === "hostPath" || type === "local_host") {
    fields.issue("type", "this node opens no directory of its host", "volume_type_forbidden");
  } else fields.issue("type", "is not a type of volume this service has", "unsupported_volume_type");
}

function readMountPath(fields: Fields): string | null {
  const written = fields.requiredText("mount_path", plainPath);
  if (written === null) return null;
  const path = normalPath(written);
  return path !== null && isWithin(path, workspace)
    ? path
    : fields.issue("mount_path", "must be /workspace or below it, without `..`");
}

function readSource(fields: Fields): string | null {
  if (!fields.has("source")) return null;
  const source = fields.section("source");
  const id = source.requiredText("volume_id", uuid);
  source.close();
  return id?.toLowerCase() ?? null;
}
