/**
 * Volumes of the object store as directories of this host, while executions mount them. Each host has one copy of a volume,
 * as it would have the one directory of a local volume; what its executions change is written back when an instance ends
 * (docs/decisions/volumes-in-objects.md).
 */
import type { ObjectStore } from "../../../../../adapters/objects/port.ts";
import { LaunchFailure } from "../../../../../adapters/sandbox/port.ts";
import type { Sql, Transaction } from "../../../../../store/postgres/pool.ts";
import type { VolumeLayout } from "../../../layout.ts";
import type { Landed, MountUse, Places, VolumeAt } from "../../port.ts";
import { VolumeCopy } from "./copy.ts";
import { pull } from "./pull.ts";
import { push } from "./push.ts";
import { type Staging, stagingRecords } from "./records.ts";

/** How often a process says that it is still at a copy, ms. */
const sayEveryMs = 10_000;
const lookAgainMs = 200;
/** An execution waits for another process at the copy for so long, ms. */
const longestWaitMs = 600_000;

export interface StagingOptions {
  readonly sql: Sql;
  readonly objects: Pick<ObjectStore, "read">;
  readonly places: Pick<Places, "draft" | "change">;
  readonly layout: VolumeLayout;
  /** This host, as the runtime names it. */
  readonly host: string;
  /** Whether what a volume holds, as the transaction counts it, fits all quotas. */
  readonly fits: (transaction: Transaction, volume: VolumeAt) => Promise<boolean>;
  /** Files and directories of a copy at most; absent: 50,000. */
  readonly maxEntries?: number | undefined;
  /** Told what cannot be written back any more. */
  readonly lost: (staging: Staging, reason: "host_gone" | "no_room" | "too_many_files") => void;
}

export function createStaging(options: StagingOptions) {
  const { sql, objects, places, layout, host, fits, lost } = options;
  const copyOf = (volumeId: string) => new VolumeCopy(layout, volumeId, options.maxEntries);
  const records = stagingRecords(sql, host);

  /** Works at a copy alone, of all processes of this host. */
  async function alone<T>(volumeId: string, signal: AbortSignal | null, work: () => Promise<T>): Promise<T> {
    const token = crypto.randomUUID();
    const givesUpAt = performance.now() + longestWaitMs;
    while (!(await records.enter(volumeId, token))) {
      signal?.throwIfAborted();
      if (performance.now() > givesUpAt)
        throw new LaunchFailure("volume_error", "The volume is being copied for too long");
      await Bun.sleep(lookAgainMs);
    }
    const timer = setInterval(() => void records.enter(volumeId, token).catch(() => {}), sayEveryMs);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      await records.leave(volumeId, token);
    }
  }

  /** @param isLate the execution is over, or its instance is lost: what was written since stays */
  async function writeBack(staging: Staging, isLate: boolean, signal: AbortSignal | null): Promise<Landed> {
    const volume = { tenant: staging.tenant, volume_id: staging.volume_id };
    return alone(staging.volume_id, signal, async () => {
      // Another process of this host did it.
      if (!(await records.writers(staging.volume_id)).includes(staging.instance_id)) return "written";
      const pushed = await push({
        places,
        volume,
        copy: copyOf(staging.volume_id),
        stored: await records.stored(volume),
        isLate,
        fits: (transaction) => fits(transaction, volume),
        committed: (transaction) => records.unmark(staging.volume_id, staging.instance_id, transaction),
        signal,
      }).catch(async (error: unknown) => {
        if (!(error instanceof LaunchFailure)) throw error;
        // It never can be, so the copy is given up.
        await records.unmark(staging.volume_id, staging.instance_id);
        lost(staging, "too_many_files");
        throw error;
      });
      if (pushed === "written") return pushed;
      // The next one that mounts it finds what the volume holds.
      await records.unmark(staging.volume_id, staging.instance_id);
      lost(staging, "no_room");
      return pushed;
    });
  }

  return {
    /**
     * Makes the copy on this host what the volume holds, before an instance mounts it.
     * What it may write to is written back.
     */
    async arrive(volume: VolumeAt, use: MountUse, signal: AbortSignal | null): Promise<void> {
      await alone(volume.volume_id, signal, async () => {
        const hasWriters = (await records.writers(volume.volume_id)).length > 0;
        const copy = copyOf(volume.volume_id);
        const stored = await records.stored(volume);
        await pull({ objects, volume, copy, stored, hasWriters, signal });
        if (use.writes) await records.mark(volume, use);
      });
    },

    /** An instance ended: writes back all that it may have changed on this host. Repeatable. */
    async land(instanceId: string, signal: AbortSignal | null): Promise<Landed> {
      let landed: Landed = "written";
      for (const staging of await records.ofInstance(instanceId)) {
        const one = await writeBack(staging, false, signal);
        if (one !== "written") landed = one;
      }
      return landed;
    },

    /**
     * What crashes left to be written back on this host, what cannot be because its host is gone, and copies that nothing
     * uses any more.
     * @param running of the given executions, those that have not ended
     */
    async tidy(running: (executionIds: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
      const left = await records.ofHost();
      const alive = await running(left.map(({ execution_id }) => execution_id));
      // One that fails keeps no other from its turn.
      const failures: unknown[] = [];
      for (const staging of left) {
        if (alive.has(staging.execution_id)) continue;
        await writeBack(staging, true, null).catch((error: unknown) => void failures.push(error));
      }
      for (const staging of await records.ofGoneHosts()) {
        if (await records.giveUp(staging)) lost(staging, "host_gone");
      }
      for (const volumeId of await records.unused()) await drop(volumeId);
      if (failures.length > 0) throw failures[0];
    },

    drop,
  };

  /** Takes away the copy on this host. Repeatable. */
  async function drop(volumeId: string): Promise<void> {
    await copyOf(volumeId).remove();
    await records.forgetCopy(volumeId);
  }
}

export type VolumeStaging = ReturnType<typeof createStaging>;
