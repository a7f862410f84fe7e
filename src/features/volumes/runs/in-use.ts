/** Which volumes and executions are at work. */
import type { VolumeRecords } from "../records.ts";

/** Of the given executions, of agents and of workflows, those that exist, of any tenant. */
export type KnownExecutions = (
  executionIds: readonly string[],
) => Promise<readonly { readonly id: string; readonly ended_at: Date | null }[]>;

export type VolumesInUse = ReturnType<typeof volumesInUse>;

export function volumesInUse(records: Pick<VolumeRecords, "mountsOf">, executions: KnownExecutions) {
  /** Of the given volumes, those that an execution works with. */
  async function attached(volumeIds: readonly string[]): Promise<ReadonlySet<string>> {
    const mounts = await records.mountsOf(volumeIds);
    const rows = await executions([...new Set(mounts.map(({ execution_id }) => execution_id))]);
    const isRunning = new Map(rows.map(({ id, ended_at }) => [id, ended_at === null]));
    // A start settles its volumes a moment before it is stored.
    const busy = mounts.filter(({ execution_id, fresh }) => isRunning.get(execution_id) ?? fresh);
    return new Set(busy.map(({ volume_id }) => volume_id));
  }

  /** Of the given executions, those that have not ended. */
  async function running(executionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await executions(executionIds);
    return new Set(rows.filter(({ ended_at }) => ended_at === null).map(({ id }) => id));
  }

  return { attached, running };
}
