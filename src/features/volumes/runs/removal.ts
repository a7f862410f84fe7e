/** Directories and rows of volumes and runs that are no more, taken away. */
import { workspaceTtlMs } from "../../../../actors/execution/start/mounts.ts";
import { removeDirectory } from "../../../lib/files/remove-directory.ts";
import { idsIn, type VolumeLayout } from "../layout.ts";
import type { Places } from "../places/port.ts";
import type { VolumeRecords } from "../records.ts";
import type { VolumesInUse } from "./in-use.ts";

/** Directories of this host that go with a run. */
export interface HeldForRun {
  /** Of the execution's own workspace: the execution's id. */
  readonly volumeId: string;
  readonly executionId: string;
  /** How long it outlives the run. */
  readonly ttlMs: number;
}

/** Taking away what this host holds of volumes and runs that are no more. */
export function removing(
  layout: VolumeLayout,
  places: Pick<Places, "held" | "erase" | "tidy">,
  records: VolumeRecords,
  attached: VolumesInUse["attached"],
  now: () => number,
) {
  /** Erases, on this host, what belongs to deleted volumes that nothing works with. @returns how many */
  async function eraseDeleted(): Promise<number> {
    const held = await places.held();
    const kept = await records.kept(held);
    const gone = held.filter((id) => !kept.has(id));
    const busy = await attached(gone);
    const erased = gone.filter((id) => !busy.has(id));
    for (const id of erased) await places.erase(id);
    await places.tidy(now());
    await records.forgetOldDeleted();
    return erased.length;
  }

  return {
    /** The execution was erased: takes away what goes with it. Repeatable. */
    async removeOfExecution(executionId: string): Promise<void> {
      const declared = await records.volumesOfRun(executionId);
      await Promise.all([executionId, ...declared].map((id) => removeDirectory(layout.workspace(id))));
      await removeDirectory(layout.hiddenOf(executionId));
      await records.forget(declared);
      await records.forgetMounts([executionId]);
    },

    /**
     * These executions or runs ended long ago and are erased: takes away what this host still has of them. Their instances
     * are gone, and directories on other hosts go with the sweeps of those. A directory that cannot be removed keeps no
     * record: this host's sweep takes it up again and says why it fails. Repeatable.
     */
    async removeOfErased(executionIds: readonly string[]): Promise<void> {
      const declared = await records.forgetRuns(executionIds);
      const directories = [
        ...[...executionIds, ...declared].map((id) => layout.workspace(id)),
        ...executionIds.map((id) => layout.hiddenOf(id)),
      ];
      for (const directory of directories) await removeDirectory(directory).catch(() => {});
    },

    /** A workflow's run ended: its ephemeral volumes go, and it works with no others any more. Repeatable. */
    async removeOfRun(executionId: string, ephemeral: readonly string[]): Promise<void> {
      for (const id of ephemeral) await removeDirectory(layout.workspace(id));
      await records.forget(ephemeral);
      await records.forgetMounts([executionId]);
    },

    /** The agent was deleted: its persistent volumes go, in every tenant, once nothing works with them. */
    async removeOfAgent(agentId: string): Promise<void> {
      if (await records.markDeletedOfAgent(agentId)) void eraseDeleted().catch(() => {});
    },

    /** Everything this host holds for runs, and rows of runs that never came to be. */
    async heldForRuns(): Promise<HeldForRun[]> {
      const [directories, hidden] = await Promise.all([idsIn(layout.workspaces), idsIn(layout.hidden)]);
      const declared = await records.ofRuns(directories);
      const own = new Set(declared.map(({ volume_id }) => volume_id));
      const workspaces = new Set([...directories, ...hidden].filter((id) => !own.has(id)));
      return [
        ...declared.map((row) => ({ volumeId: row.volume_id, executionId: row.execution_id, ttlMs: row.ttl_ms })),
        ...[...workspaces].map((id) => ({ volumeId: id, executionId: id, ttlMs: workspaceTtlMs })),
      ];
    },

    /** Takes one of those away. Repeatable. */
    async removeHeld({ volumeId }: HeldForRun): Promise<void> {
      await removeDirectory(layout.workspace(volumeId));
      await removeDirectory(layout.hiddenOf(volumeId));
      await records.forget([volumeId]);
    },

    /**
     * A purged tenant: what this host holds of its volumes, and all objects; other hosts erase theirs with their sweeps.
     * Repeatable. @returns whether no object is left
     */
    async removeOfTenant(tenant: string): Promise<boolean> {
      await records.markDeletedOfTenant(tenant);
      await eraseDeleted();
      return !(await records.hasObjects(tenant));
    },

    eraseDeleted,
  };
}
