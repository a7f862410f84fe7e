/** Volumes that a workflow declares, settled when one of its runs starts (workflow contract, section 1). */
import type { MountPlan } from "../../../actors/execution/start/plan.ts";
import { type Issue, invalid, Problem } from "../../../actors/kernel/problem.ts";
import { storageQuota } from "../../../actors/policy/storage-quota.ts";
import type { Definition } from "../../../actors/workflow/definition.ts";
import { isUuid } from "../../http/route.ts";
import { type VolumeReader, visibilityOf } from "./reader.ts";
import type { VolumeRow, volumeRecords } from "./records.ts";

export interface RunStorage {
  readonly tenant: string;
  readonly executionId: string;
  /** Whose volumes may be named. */
  readonly reader: VolumeReader;
  /** A workflow's persistent volumes are kept under its name, whatever its version. */
  readonly workflow: string;
  readonly declared: Definition["storage"];
  /** Volumes named at the start, by name of the declared one; what is no volume of the tenant is passed over. */
  readonly given: ReadonlyMap<string, string>;
  /** Their volumes count as attached to the run. */
  readonly attachments: readonly { readonly volume_id: string }[];
}

interface Declared {
  readonly name: string;
  readonly path: string;
  readonly lasting: boolean;
  /** Named by the manifest; it must be there. */
  readonly named: string | null;
  readonly limit: number;
  readonly ttlMs: number;
  /** Where the manifest says so. */
  readonly at: string;
}

const MiB = 2 ** 20;
const hourMs = 3600_000;
/** Of a shared volume that states none. */
const defaultLimit = 256 * MiB;

/**
 * The workspace, mounted at `/workspace`, and the shared volumes, mounted by the states that want them: their
 * `mount_path` is empty. Nothing is stored for a run that declares none and has no attachments.
 * @throws Problem 402 `quota_exceeded` when the tenant has no room; 422 `invalid_volume` for a volume the manifest
 *   names that the starter may not read, or a limit above what may be stored
 */
export async function settleRun(
  records: ReturnType<typeof volumeRecords>,
  newId: () => string,
  storage: RunStorage,
): Promise<MountPlan[]> {
  const { tenant, executionId, attachments } = storage;
  const declared = declaredOf(storage.declared);
  if (declared.length === 0 && attachments.length === 0) return [];
  const known = await nameable(records, storage, declared);
  requireUsable(storage, declared, known);
  await requireRoom(records, storage, declared);
  const mounts: MountPlan[] = [];
  for (const volume of declared) mounts.push(await settleOne(records, newId, storage, volume, known));
  const written = mounts.map(({ volume_id }) => volume_id);
  const read = attachments.map(({ volume_id }) => volume_id);
  await records.mount(tenant, executionId, [...new Set([...written, ...read])], written);
  return mounts;
}

function declaredOf({ workspace, shared_volumes }: Definition["storage"]): Declared[] {
  const shared = shared_volumes.map(
    ({ name, storage_class, size_limit_bytes }, index): Declared => ({
      name,
      path: "",
      lasting: storage_class === "persistent",
      named: null,
      limit: size_limit_bytes ?? defaultLimit,
      ttlMs: hourMs,
      at: `spec.storage.shared_volumes.${index}`,
    }),
  );
  if (workspace === null) return shared;
  const { storage_class, ttl_ms, size_limit_bytes, volume_id } = workspace;
  return [
    {
      name: "workspace",
      path: "/workspace",
      lasting: storage_class === "persistent",
      named: volume_id?.toLowerCase() ?? null,
      limit: size_limit_bytes,
      ttlMs: ttl_ms,
      at: "spec.storage.workspace",
    },
    ...shared,
  ];
}

/** The volumes that start and manifest name, as far as the starter may use them. */
async function nameable(
  records: Pick<ReturnType<typeof volumeRecords>, "readable">,
  { tenant, reader, given }: RunStorage,
  declared: readonly Declared[],
): Promise<ReadonlyMap<string, VolumeRow>> {
  const wanted = declared
    .flatMap(({ name, named }) => [given.get(name)?.toLowerCase() ?? "", named ?? ""])
    .filter(isUuid);
  if (wanted.length === 0) return new Map();
  const rows = await records.readable(tenant, [...new Set(wanted)], visibilityOf(reader));
  return new Map(rows.map((row) => [row.volume_id, row]));
}

function requireUsable(
  { tenant, reader, given }: RunStorage,
  declared: readonly Declared[],
  known: ReadonlyMap<string, VolumeRow>,
): void {
  const { tenantBytes } = storageQuota(reader, tenant);
  const issues = declared.flatMap(({ name, named, limit, at }): Issue[] => {
    if (known.has(given.get(name)?.toLowerCase() ?? "")) return [];
    if (named !== null && !known.has(named)) {
      return [{ path: `${at}.volume_id`, message: "there is no such volume", code: "volume_not_found" }];
    }
    if (named !== null || limit <= tenantBytes) return [];
    return [{ path: at, message: `the plan allows ${tenantBytes} bytes`, code: "quota_exceeded" }];
  });
  if (issues.length > 0) throw invalid("invalid_volume", "The workflow's volumes cannot be used", issues);
}

async function requireRoom(
  records: Pick<ReturnType<typeof volumeRecords>, "usedBytes">,
  { tenant, reader }: RunStorage,
  declared: readonly Declared[],
): Promise<void> {
  if (declared.length === 0) return;
  const { tenantBytes: limit, tier } = storageQuota(reader, tenant);
  const used = await records.usedBytes(tenant);
  if (used < limit) return;
  const facts = { quota: "max_storage_gb", limit, used, tier };
  throw new Problem("quota_exceeded", "There is no room for the workflow's volumes", facts);
}

async function settleOne(
  records: ReturnType<typeof volumeRecords>,
  newId: () => string,
  { tenant, executionId, reader, workflow, given }: RunStorage,
  { name, path, lasting, named, limit, ttlMs }: Declared,
  known: ReadonlyMap<string, VolumeRow>,
): Promise<MountPlan> {
  const plan = { name, mount_path: path, access_mode: "read-write" as const, ttl_ms: ttlMs };
  const used = known.get(given.get(name)?.toLowerCase() ?? "") ?? known.get(named ?? "");
  if (used !== undefined) {
    const { volume_id, size_limit_bytes } = used;
    return { ...plan, volume_id, size_limit_bytes, storage_class: "persistent" };
  }
  const volume = { id: newId(), workflow, name, sizeLimit: limit };
  if (lasting) {
    const volume_id = await records.ofWorkflow(tenant, { ...volume, userId: reader?.userId ?? null });
    return { ...plan, volume_id, size_limit_bytes: limit, storage_class: "persistent" };
  }
  await records.addOfRun(tenant, { ...volume, executionId, ttlMs });
  return { ...plan, volume_id: volume.id, size_limit_bytes: limit, storage_class: "ephemeral" };
}
