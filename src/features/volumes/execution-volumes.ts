/** Volumes as executions use them: settled at the start, mounted, measured, taken away. */
import type { SourceVolume } from "../../../actors/execution/start/mounts.ts";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import type { InstanceMount } from "../../adapters/sandbox/port.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { StorageViolations } from "../storage-violations/port.ts";
import { VolumeLayout } from "./layout.ts";
import { type VolumeReader, visibilityOf, volumeRecords } from "./records.ts";
import { type KnownExecutions, volumesInUse } from "./runs/in-use.ts";
import { mountRun } from "./runs/instance-mounts.ts";
import { measuring } from "./runs/measuring.ts";
import { removing } from "./runs/removal.ts";
import { settling } from "./runs/settle.ts";
import { sharedBounds } from "./runs/shared-bounds.ts";
import { type Watched, watchLimits } from "./runs/size-watch.ts";
import { viewing } from "./runs/views.ts";
import { requireCompatible } from "./shared-mounts.ts";

export interface VolumesOptions {
  readonly sql: Sql;
  /** Absolute path. */
  readonly dataDir: string;
  readonly executions: KnownExecutions;
  readonly newId: () => string;
  readonly now: () => number;
  readonly recordViolation: StorageViolations["recordViolation"];
  /** What a tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
}

export type Volumes = ReturnType<typeof createVolumes>;

export function createVolumes({ sql, dataDir, executions, newId, now, recordViolation, terms }: VolumesOptions) {
  const layout = new VolumeLayout(dataDir);
  const records = volumeRecords(sql);
  const { attached, running } = volumesInUse(records, executions);
  const { settle } = settling(records, newId);
  const bounds = sharedBounds({ sql, terms });
  const { view, readingView } = viewing(layout, bounds);
  const { usageOf, measureWritten } = measuring(layout, records, attached, now);
  const removal = removing(layout, records, attached, now);
  const { removeOfExecution, removeOfErased, removeOfRun, removeOfAgent, heldForRuns, removeHeld } = removal;

  return {
    layout,
    records,
    attached,
    settle,
    view,
    readingView,
    usageOf,
    measureWritten,
    removeOfExecution,
    removeOfErased,
    removeOfRun,
    removeOfAgent,
    heldForRuns,
    removeHeld,
    eraseDeleted: removal.eraseDeleted,
    removeOfTenant: removal.removeOfTenant,

    /** Of the given volumes, those that the starter may read, by id; one that is there and hidden is a violation. @param volumeIds in lower case; others than UUIDs are none */
    async readable(
      tenant: string,
      reader: VolumeReader,
      volumeIds: readonly string[],
    ): Promise<ReadonlyMap<string, SourceVolume>> {
      const wanted = volumeIds.filter(isUuid);
      if (wanted.length === 0) return new Map();
      const rows = await records.readable(tenant, wanted, visibilityOf(reader, tenant));
      const missing = wanted.filter((id) => !rows.some(({ volume_id }) => volume_id === id));
      for (const id of missing) {
        recordViolation({
          category: "unauthorized_volume_access",
          tenant,
          by: reader === null ? null : `${reader.realm}/${reader.userId}`,
          volumeId: null,
          executionId: null,
          path: null,
          operation: "execution.start",
          details: { ...(reader === null ? {} : { user_id: reader.userId }), requested_volume: id },
          settle: async () => ((await records.isHidden([id])) ? { volumeId: null } : null),
        });
      }
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
      return mountRun(layout, run);
    },

    /** Calls `exceeded` once the execution has written more than one of the bounds allows (`runs/size-watch.ts`). */
    watchLimits(watched: Watched): () => void {
      const noteUsage = (id: string, bytes: number, files: number) => records.noteUsage(id, bytes, files, false);
      return watchLimits({ layout, bounds, noteUsage }, watched);
    },
  };
}
