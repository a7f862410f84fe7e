/** `spec.volumes`: what is mounted at `/workspace` and below. */

import type { Fields } from "../../../manifest/fields.ts";
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

const hostTypes: readonly string[] = ["hostPath", "local_host"];

const type = text({ min: 1, max: 64 }).check((type, { offer }: AgentScope) => {
  if (type === "managed" || type === "seaweedfs") return null;
  if (!hostTypes.includes(type)) return ["is not a type of volume this service has", "unsupported_volume_type"];
  return offer.hostPaths.length > 0
    ? null
    : ["is for operators, where the node opens directories of its host", "volume_type_forbidden"];
});

const mountPath = text(plainPath)
  .check((written) =>
    isWithin(normalPath(written) ?? "/", workspace) ? null : "must be /workspace or below it, without `..`",
  )
  .as((written) => normalPath(written) ?? written);

interface Source {
  readonly volume_id: string | null;
  readonly path: string | null;
  /** Members that are written, good ones or not. */
  readonly names: readonly ("volume_id" | "path")[];
}

const source = object({
  volume_id: volumeId,
  // Where it really lies is looked at when it is mounted.
  path: text(plainPath).check((path) => (normalPath(path) === null ? "must be an absolute path without `..`" : null)),
}).build(
  (read, fields): Source => ({ ...read, names: (["volume_id", "path"] as const).filter((name) => fields.has(name)) }),
);

const isOfHost = ({ type }: { readonly type?: unknown }): boolean =>
  typeof type === "string" && hostTypes.includes(type);
/** Not of the host, and not there already. */
const isNew = (read: Readonly<Record<string, unknown>>): boolean => read.source === null && !isOfHost(read);

const volume = object({
  type,
  name: text(agentName).required(),
  mount_path: mountPath.required(),
  source,
  storage_class: choice("ephemeral", "persistent"),
  access_mode: choice("read-only", "read-write").or("read-write"),
  size_limit: quantity(1, Ti, "1 byte to 1Ti").when(isNew),
  ttl_hours: integer(1, 720).when((read) => isNew(read) && read.storage_class !== "persistent"),
}).build(({ name, mount_path, source, access_mode, ...read }, fields, scope: AgentScope): VolumeSpec | null => {
  // Of a type that is refused nothing else is said.
  const isTold = read.type === null && fields.has("type");
  const host_path = isOfHost(read) ? hostPath(fields, source, mount_path, scope) : null;
  const volume_id = isOfHost(read) || isTold ? null : sourceVolume(fields, source);
  if ((source !== null || isOfHost(read)) && read.storage_class !== null) {
    fields.issue("storage_class", "says nothing about what exists already");
  }
  if (name === null || mount_path === null) return null;
  const spec = {
    name,
    mount_path,
    storage_class: source === null ? (read.storage_class ?? "ephemeral") : "persistent",
    access_mode,
    size_limit_bytes: read.size_limit ?? 256 * Mi,
    ttl_ms: (read.ttl_hours ?? 24) * hour,
    source_volume_id: volume_id,
    ...(host_path === null ? {} : { host_path }),
  } as const;
  scope.volumes.push(spec);
  return spec;
});

function sourceVolume(fields: Fields, source: Source | null): string | null {
  if (source === null) return null;
  if (source.names.includes("path")) fields.issue("source.path", "is for volumes of the type hostPath");
  if (!source.names.includes("volume_id")) fields.issue("source.volume_id", "is required");
  return source.volume_id;
}

function hostPath(
  fields: Fields,
  source: Source | null,
  mountPath: string | null,
  { offer }: AgentScope,
): string | null {
  if (source?.names.includes("volume_id")) fields.issue("source.volume_id", "is for volumes of the service");
  if (mountPath === workspace) fields.issue("mount_path", "must be below /workspace for a directory of the host");
  const path = source?.path ? normalPath(source.path) : null;
  if (path === null) {
    return source?.names.includes("path") ? null : fields.issue("source.path", "must name the directory of the host");
  }
  if (!offer.hostPaths.some((allowed) => isWithin(path, allowed))) {
    return fields.issue("source.path", "lies in no directory that this node opens", "volume_type_forbidden");
  }
  return path;
}

export const volumes = list(volume.named("Volume"), 8, null, (one, before, fields, position) => {
  if (before.some(({ name }) => name === one.name)) fields.issue(`${position}.name`, "is the name of another volume");
  const overlapping = before.find(({ mount_path }) => overlap(one.mount_path, mount_path));
  if (overlapping !== undefined) fields.issue(`${position}.mount_path`, `overlaps ${overlapping.mount_path}`);
}).or([]);
