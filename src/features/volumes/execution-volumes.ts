/** Volumes as executions use them: settled at the start, mounted, measured, taken away. */
import type { SourceVolume } from "../../../actors/execution/start/mounts.ts";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import type { InstanceMount } from "../../adapters/sandbox/port.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { VolumeLayout } from "./layout.ts";
import type { Places } from "./places/port.ts";
import { type VolumeReader, visibilityOf, volumeRecords } from "./records.ts";
import { type KnownExecutions, volumesInUse } from "./runs/in-use.ts";
import { indexing } from "./runs/indexing.ts";
import { mountRun } from "./runs/instance-mounts.ts";
import { measuring } from "./runs/measuring.ts";
import { removing } from "./runs/removal.ts";
import { settling } from "./runs/settle.ts";
import { watchLimits } from "./runs/size-watch.ts";
import { viewing } from "./runs/views.ts";
import { requireCompatible } from "./shared-mounts.ts";

export interface VolumesOptions {
  readonly sql: Sql;
  readonly layout: VolumeLayout;
  readonly places: Places;
  readonly executions: KnownExecutions;
  readonly newId: () => string;
  readonly now: () => number;
}

export type Volumes = ReturnType<typeof createVolumes>;

export function createVolumes({ sql, layout, places, executions, newId, now }: VolumesOptions) {
  const records = volumeRecords(sql);
  const { attached, running, isQuiet } = volumesInUse(records, executions, now);
  const { settle } = settling(records, newId);
  const { view, readingView } = viewing(layout, places);
  const { usageOf, measureWritten } = measuring(layout, places, records, attached, now);
  const { settleIndexes } = indexing(sql, places, isQuiet);
  const removal = removing(layout, places, records, attached, now);
  const { removeOfExecution, removeOfErased, removeOfRun, removeOfAgent, heldForRuns, removeHeld } = removal;

  return {
    layout,
    places,
    records,
    attached,
    settle,
    view,
    readingView,
    usageOf,
    measureWritten,
    settleIndexes,
    removeOfExecution,
    removeOfErased,
    removeOfRun,
    removeOfAgent,
    heldForRuns,
    removeHeld,
    eraseDeleted: removal.eraseDeleted,
    removeOfTenant: removal.removeOfTenant,

    /** Of the given volumes, those that the starter may read, by id. @param volumeIds in lower case; others than UUIDs are none */
    async readable(
      tenant: string,
      reader: VolumeReader,
      volumeIds: readonly string[],
    ): Promise<ReadonlyMap<string, SourceVolume>> {
      const wanted = volumeIds.filter(isUuid);
      if (wanted.length === 0) return new Map();
      const rows = await records.readable(tenant, wanted, visibilityOf(reader, tenant));
      return new Map(rows.map((row) => [row.volume_id, row]));
    },

    /** Bytes in all volumes of the tenant. */
    usedBytes: (tenant: string): Promise<number> => records.usedBytes(tenant),

    /**
     * Makes the directories of a run on this host and says what is mounted where, the policy applied.
     * @throws LaunchFailure `volume_error`
     */
    async instanceMounts(
      _tenant: string,
      executionId: string,
      plan: Pick<Plan, "mounts" | "filesystem">,
    ): Promise<InstanceMount[]> {
      const run = { executionId, mounts: plan.mounts, rules: plan.filesystem };
      await requireCompatible(records, run, running);
      return mountRun(layout, places, run);
    },

    /** Calls `exceeded` once a volume of the execution is larger than its limit (`runs/size-watch.ts`). */
    watchLimits(
      executionId: string,
      plan: Pick<Plan, "mounts" | "filesystem" | "resources">,
      exceeded: () => void,
    ): () => void {
      return watchLimits(layout, executionId, plan, exceeded);
    },
  };
}
