/** `spec.volumes`: what is mounted at `/workspace` and below. */
import { hour, Mi, normalPath, plainPath, quantity, Ti, uuid } from "../../../manifest/members.ts";
import { object } from "../../../manifest/object.ts";
import { choice, integer, list, text } from "../../../manifest/shape.ts";
import { isWithin } from "../../../policy/filesystem/mounts.ts";
import { agentName } from "../metadata.ts";
import type { AgentScope, VolumeSpec } from "../spec.ts";

/** Where every run has a volume, its own or one made for it. */
export const workspace = "/workspace";

/** How manifests name a volume of the tenant. */
export const volumeId = text({ ...uuid, form: "a volume's id" }).as((id) => id.toLowerCase());

/** Two mounts may not be at the same place or one in the other, except that all are below `/workspace` itself. */
export function overlap(one: string, other: string): boolean {
  if (one === other) return true;
  return one !== workspace && other !== workspace && (isWithin(one, other) || isWithin(other, one));
}

/** Only volumes the service manages are mounted: no tenant reaches a directory of a host. */
const type = text({ min: 1, max: 64 }).check((type) => {
  if (type === "managed" || type === "seaweedfs") return null;
  return type === "hostPath" || type === "local_host"
    ? ["this node opens no directory of its host", "volume_type_forbidden"]
    : ["is not a type of volume this service has", "unsupported_volume_type"];
});

const mountPath = text(plainPath)
  .check((written) =>
    isWithin(normalPath(written) ?? "/", workspace) ? null : "must be /workspace or below it, without `..`",
  )
  .as((written) => normalPath(written) ?? written);

const isNew = ({ source }: Readonly<Record<string, unknown>>): boolean => source === null;

const volume = object({
  type,
  name: text(agentName).required(),
  mount_path: mountPath.required(),
  source: object({ volume_id: volumeId.required() }).build(({ volume_id }) => volume_id),
  storage_class: choice("ephemeral", "persistent"),
  access_mode: choice("read-only", "read-write").or("read-write"),
  size_limit: quantity(1, Ti, "1 byte to 1Ti").when(isNew),
  ttl_hours: integer(1, 720).when((read) => isNew(read) && read.storage_class !== "persistent"),
}).build(({ name, mount_path, source, access_mode, ...read }, fields, { volumes }: AgentScope): VolumeSpec | null => {
  if (source !== null && read.storage_class !== null) {
    fields.issue("storage_class", "says nothing about a volume that exists already");
  }
  if (name === null || mount_path === null) return null;
  const spec = {
    name,
    mount_path,
    storage_class: source === null ? (read.storage_class ?? "ephemeral") : "persistent",
    access_mode,
    size_limit_bytes: read.size_limit ?? 256 * Mi,
    ttl_ms: (read.ttl_hours ?? 24) * hour,
    source_volume_id: source,
  } as const;
  volumes.push(spec);
  return spec;
});

export const volumes = list(volume.named("Volume"), 8, null, (one, before, fields, position) => {
  if (before.some(({ name }) => name === one.name)) fields.issue(`${position}.name`, "is the name of another volume");
  const overlapping = before.find(({ mount_path }) => overlap(one.mount_path, mount_path));
  if (overlapping !== undefined) fields.issue(`${position}.mount_path`, `overlaps ${overlapping.mount_path}`);
}).or([]);
