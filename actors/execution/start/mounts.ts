/** The volumes of an execution as its plan lists them. */
import type { VolumeSpec } from "../../agent/manifest/spec.ts";
import type { Issue } from "../../kernel/problem.ts";
import type { MountPlan, Volume } from "./plan.ts";

/** Bytes of an implicit workspace. */
const workspaceLimit = 256 * 2 ** 20;
export const workspaceTtlMs = 24 * 3600_000;

/** What a start has to know of an existing volume that it is to use. */
export interface SourceVolume {
  readonly volume_id: string;
  readonly size_limit_bytes: number;
}

/** The `/workspace` of an execution that declares none. */
export function implicitWorkspace(executionId: string): MountPlan {
  return {
    name: "workspace",
    volume_id: executionId,
    mount_path: "/workspace",
    storage_class: "ephemeral",
    access_mode: "read-write",
    size_limit_bytes: workspaceLimit,
    ttl_ms: workspaceTtlMs,
  };
}

/**
 * The volumes of a judge's parent, for the judge: the same paths, read-only. They must show as a whole: the parent may
 * still be running, and a part of a volume is not mounted beside a program that can replace it.
 */
export function judgeMounts(parent: readonly MountPlan[]): MountPlan[] {
  // Whole and read-only: a judge disturbs no other execution that has a run's volume mounted.
  return parent.map(({ shared: _, ...mount }) => ({ ...mount, access_mode: "read-only" }));
}

/** Volumes as the record of an execution shows them. */
export function recordedVolumes(mounts: readonly MountPlan[]): Volume[] {
  return mounts.map(({ name, volume_id, mount_path, access_mode }) => ({ name, volume_id, mount_path, access_mode }));
}

/** The existing volumes that an agent declares, by id in lower case. */
export function sourceIds(declared: readonly VolumeSpec[]): readonly string[] {
  return declared.flatMap(({ source_volume_id: id }) => (id === null ? [] : [id.toLowerCase()]));
}

/**
 * What forbids the volumes that an agent declares.
 * @param sources the named volumes that the starter may read, by id in lower case
 * @param tenantBytes how much the tenant may store
 */
export function volumeIssues(
  declared: readonly VolumeSpec[],
  sources: ReadonlyMap<string, SourceVolume>,
  tenantBytes: number,
): Issue[] {
  return declared.flatMap(({ source_volume_id: source, size_limit_bytes }, index): Issue[] => {
    const path = `volumes.${index}`;
    if (source !== null) {
      if (sources.has(source.toLowerCase())) return [];
      return [{ path: `${path}.source.volume_id`, message: "there is no such volume", code: "volume_not_found" }];
    }
    if (size_limit_bytes <= tenantBytes) return [];
    return [{ path: `${path}.size_limit`, message: `the plan allows ${tenantBytes} bytes`, code: "quota_exceeded" }];
  });
}
