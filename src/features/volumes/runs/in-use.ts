/** Which volumes and executions are at work. */
import type { VolumeRecords } from "../records.ts";

/** Of the given executions, of agents and of workflows, those that exist, of any tenant. */
export type KnownExecutions = (
  executionIds: readonly string[],
) => Promise<readonly { readonly id: string; readonly ended_at: Date | null }[]>;

export type VolumesInUse = ReturnType<typeof volumesInUse>;

/** An instance is ended a moment after its execution: until then it may write. */
const endingMs = 10_000;

/** @param now Unix ms */
export function volumesInUse(records: Pick<VolumeRecords, "mountsOf">, executions: KnownExecutions, now: () => number) {
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

  /** Whether nothing writes to a volume, nor will without being mounted anew. */
  async function isQuiet(volumeId: string): Promise<boolean> {
    const mounts = await records.mountsOf([volumeId]);
    const rows = await executions(mounts.map(({ execution_id }) => execution_id));
    const endedAt = new Map(rows.map(({ id, ended_at }) => [id, ended_at]));
    return mounts.every(({ execution_id, fresh }) => {
      const at = endedAt.get(execution_id);
      return at === undefined ? !fresh : at !== null && now() - at.getTime() >= endingMs;
    });
  }

  return { attached, running, isQuiet };
}
