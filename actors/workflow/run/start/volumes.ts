/** The volumes of a workflow run: what its manifest declares, what a start names in their place, and what forbids them. */
import type { SourceVolume } from "../../../execution/start/mounts.ts";
import type { MountPlan } from "../../../execution/start/plan.ts";
import type { Json } from "../../../kernel/json.ts";
import { type Issue, invalid, Problem } from "../../../kernel/problem.ts";
import type { TenantTerms } from "../../../policy/quota.ts";
import { storageQuota } from "../../../policy/storage-quota.ts";
import type { Definition } from "../../definition.ts";

const defaultLimit = 256 * 1_048_576;
const hourMs = 3600_000;

/** A volume of a run, ready to be stored. */
export interface RunVolume {
  readonly name: string;
  /** `/workspace`, or "" for one that states mount where they want it. */
  readonly mount_path: string;
  readonly storage_class: "ephemeral" | "persistent";
  readonly size_limit_bytes: number;
  readonly ttl_ms: number;
  /** The existing volume that is used; null: one is made. */
  readonly existing: SourceVolume | null;
  /** A volume that the manifest names and the starter may not read. */
  readonly isMissing: boolean;
  /** Where the manifest declares it. */
  readonly declaredAt: string;
}

/** What a start has to know of stored volumes. */
export interface StorageFacts {
  /** Those that start and manifest name and the starter may read, by id. */
  readonly readable: ReadonlyMap<string, SourceVolume>;
  /** Of the tenant. */
  readonly usedBytes: number;
}

/** A volume that is used in place of a declared one. */
export interface NamedVolume {
  /** Of the declared one. */
  readonly name: string;
  /** Lower case. What could be no id is kept: it is refused. */
  readonly id: string;
  /** Where the start names it; null: an earlier run had it, and it may be gone. */
  readonly path: string | null;
}
/** Of several for one name the last counts. */
export type NamedVolumes = readonly NamedVolume[];

/** Those that the blackboard names: `<name>_volume_id`, the workspace's under its own key. */
export function namedOnBlackboard(
  { workspace, shared_volumes }: Definition["storage"],
  blackboard: { readonly [key: string]: Json | undefined },
): NamedVolumes {
  const keys: [name: string, key: string][] = shared_volumes.map(({ name }) => [name, `${name}_volume_id`]);
  if (workspace !== null) {
    keys.push(["workspace", "workspace_volume_id"], ["workspace", workspace.blackboard_key]);
  }
  return keys.flatMap(([name, key]): NamedVolume[] => {
    const value = (Object.hasOwn(blackboard, key) ? blackboard[key] : null) ?? null;
    if (value === null) return [];
    return [{ name, id: typeof value === "string" ? value.toLowerCase() : "", path: `blackboard.${key}` }];
  });
}

/** Those of an earlier run that outlive it; all others are made anew. */
export function keptVolumes(volumes: readonly MountPlan[]): NamedVolumes {
  const kept = volumes.filter(({ storage_class }) => storage_class === "persistent");
  return kept.map(({ name, volume_id }) => ({ name, id: volume_id, path: null }));
}

/** The ids that have to be looked up: the manifest's and the start's. */
export function namedIds({ workspace }: Definition["storage"], named: NamedVolumes): readonly string[] {
  const declared = workspace?.volume_id?.toLowerCase();
  return [...new Set([...named.map(({ id }) => id), ...(declared === undefined ? [] : [declared])])];
}

/** A volume that the start names counts before the manifest's; one of an earlier run that is gone is made anew. */
export function runVolumes(
  { workspace, shared_volumes }: Definition["storage"],
  named: NamedVolumes,
  readable: StorageFacts["readable"],
): readonly RunVolume[] {
  const replacing = new Map(named.map(({ name, id }) => [name, id]));
  const settle = (volume: Omit<RunVolume, "existing" | "isMissing">, ofManifest: string | null): RunVolume => {
    const existing = readable.get(replacing.get(volume.name) ?? "") ?? readable.get(ofManifest ?? "") ?? null;
    return { ...volume, existing, isMissing: existing === null && ofManifest !== null };
  };
  const shared = shared_volumes.map(({ name, storage_class, size_limit_bytes }, index) =>
    settle(
      {
        name,
        mount_path: "",
        storage_class,
        size_limit_bytes: size_limit_bytes ?? defaultLimit,
        ttl_ms: hourMs,
        declaredAt: `spec.storage.shared_volumes.${index}`,
      },
      null,
    ),
  );
  if (workspace === null) return shared;
  const { storage_class, ttl_ms, size_limit_bytes, volume_id } = workspace;
  const declaredAt = "spec.storage.workspace";
  const own = { name: "workspace", mount_path: "/workspace", storage_class, size_limit_bytes, ttl_ms, declaredAt };
  return [settle(own, volume_id?.toLowerCase() ?? null), ...shared];
}

/**
 * What forbids a run its volumes: 422 `invalid_volume` for one that the start or the manifest names and the starter may
 * not read, or a limit above what may be stored; 402 `quota_exceeded` when the tenant has no room. Null: nothing.
 */
export function volumesProblem(
  volumes: readonly RunVolume[],
  named: NamedVolumes,
  terms: TenantTerms,
  { readable, usedBytes: used }: StorageFacts,
): Problem | null {
  if (volumes.length === 0) return null;
  const { tenantBytes: limit, tier } = storageQuota(terms);
  const unknown = named.flatMap(({ id, path }) => (path === null || readable.has(id) ? [] : [noVolumeAt(path)]));
  const ofManifest = volumes.flatMap(({ existing, isMissing, size_limit_bytes, declaredAt }): Issue[] => {
    if (isMissing) {
      return [noVolumeAt(`${declaredAt}.volume_id`)];
    }
    if (existing !== null || size_limit_bytes <= limit) return [];
    return [{ path: declaredAt, message: `the plan allows ${limit} bytes`, code: "quota_exceeded" }];
  });
  const issues = [...unknown, ...ofManifest];
  if (issues.length > 0) return invalid("invalid_volume", "The workflow's volumes cannot be used", issues);
  if (used < limit) return null;
  const facts = { quota: "max_storage_gb", limit, used, tier };
  return new Problem("quota_exceeded", "There is no room for the workflow's volumes", facts);
}

const noVolumeAt = (path: string): Issue => ({ path, message: "there is no such volume", code: "volume_not_found" });
