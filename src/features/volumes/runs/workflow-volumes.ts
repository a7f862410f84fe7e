/** Volumes of workflow runs, stored once the start of the run was decided. */
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import type { RunVolume } from "../../../../actors/workflow/run/start/volumes.ts";
import type { VolumeReader, VolumeRecords } from "../records.ts";

export interface RunStorage {
  readonly tenant: string;
  readonly executionId: string;
  /** The starter; owns what is made. */
  readonly reader: VolumeReader;
  /** A workflow's persistent volumes are kept under its name, across its versions. */
  readonly workflow: string;
  readonly volumes: readonly RunVolume[];
  /** Their volumes count as attached to the run. */
  readonly attachments: readonly { readonly volume_id: string }[];
}

/**
 * The workspace, mounted at `/workspace`, and the shared volumes, mounted by the states that want them: their
 * `mount_path` is empty. Nothing is stored for a run that declares none and has no attachments.
 */
export async function settleRun(
  records: VolumeRecords,
  newId: () => string,
  storage: RunStorage,
): Promise<MountPlan[]> {
  const { tenant, executionId, volumes, attachments } = storage;
  if (volumes.length === 0 && attachments.length === 0) return [];
  const mounts: MountPlan[] = [];
  for (const volume of volumes) mounts.push(await settleOne(records, newId, storage, volume));
  const written = mounts.map(({ volume_id }) => volume_id);
  const read = attachments.map(({ volume_id }) => volume_id);
  await records.mount(tenant, executionId, [...new Set([...written, ...read])], written);
  return mounts;
}

async function settleOne(
  records: VolumeRecords,
  newId: () => string,
  { tenant, executionId, reader, workflow }: RunStorage,
  { name, mount_path, storage_class, size_limit_bytes: limit, ttl_ms, existing }: RunVolume,
): Promise<MountPlan> {
  const plan = { name, mount_path, access_mode: "read-write" as const, ttl_ms };
  if (existing !== null) {
    const { volume_id, size_limit_bytes } = existing;
    return { ...plan, volume_id, size_limit_bytes, storage_class: "persistent" };
  }
  const volume = { id: newId(), workflow, name, sizeLimit: limit };
  if (storage_class === "persistent") {
    const volume_id = await records.ofWorkflow(tenant, { ...volume, owner: reader });
    return { ...plan, volume_id, size_limit_bytes: limit, storage_class };
  }
  await records.addOfRun(tenant, { ...volume, executionId, ttlMs: ttl_ms });
  return { ...plan, volume_id: volume.id, size_limit_bytes: limit, storage_class };
}
