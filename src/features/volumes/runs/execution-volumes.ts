/** Volumes as executions use them: settled at the start, mounted, measured, taken away. */
import type { SourceVolume } from "../../../../actors/execution/start/mounts.ts";
import type { Plan } from "../../../../actors/execution/start/plan.ts";
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import type { InstanceMount } from "../../../adapters/sandbox/port.ts";
import { isUuid } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { StorageViolations } from "../../storage-violations/port.ts";
import type { VolumeLayout } from "../layout.ts";
import type { MountUse, Places } from "../places/port.ts";
import { type Backend, type VolumeReader, visibilityOf, volumeRecords } from "../records.ts";
import { bringing } from "./bringing.ts";
import { type KnownExecutions, volumesInUse } from "./in-use.ts";
import { indexing } from "./indexing.ts";
import { mountRun } from "./instance-mounts.ts";
import { measuring } from "./measuring.ts";
import { removing } from "./removal.ts";
import { settling } from "./settle.ts";
import { sharedBounds } from "./shared-bounds.ts";
import { requireCompatible } from "./shared-mounts.ts";
import { type Watched, watchLimits } from "./size-watch.ts";
import { viewing } from "./views.ts";

export interface VolumesOptions {
  readonly sql: Sql;
  readonly layout: VolumeLayout;
  readonly places: Places;
  /** Where the bytes of volumes lie that are made; absent: in directories of this host. */
  readonly backend?: Backend;
  readonly executions: KnownExecutions;
  readonly newId: () => string;
  readonly now: () => number;
  readonly recordViolation: StorageViolations["recordViolation"];
  /** What a tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
}

/** What mounts volumes, and how long that is wanted. */
export interface MountedFor extends Omit<MountUse, "writes"> {
  readonly signal: AbortSignal;
}

export type Volumes = ReturnType<typeof createVolumes>;

export function createVolumes(options: VolumesOptions) {
  const { sql, layout, places, backend = "local", executions, newId, now, recordViolation, terms } = options;
  const records = volumeRecords(sql, backend);
  const { attached, running, isQuiet } = volumesInUse(records, executions, now);
  const { settle } = settling(records, newId);
  const bounds = sharedBounds({ sql, backend, terms });
  const { view, readingView } = viewing(layout, places, bounds);
  const { usageOf, settleUsage, measureWritten } = measuring(layout, places, records, attached, now);
  const { settleIndexes } = indexing(sql, places, isQuiet);
  const { bring } = bringing(layout, places, now);
  const removal = removing(layout, places, records, attached, now);
  const { removeOfExecution, removeOfErased, removeOfRun, removeOfAgent, heldForRuns, removeHeld } = removal;

  return {
    layout,
    places,
    records,
    attached,
    running,
    settle,
    view,
    readingView,
    bring,
    usageOf,
    settleUsage,
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

    /** Of the given volumes, those that the starter may read, by id; one of the tenant that is hidden from the starter is a violation. @param volumeIds in lower case; others than UUIDs are none */
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
          asked: id,
          details: reader === null ? {} : { user_id: reader.userId },
          settle: async () => ((await records.isHidden(tenant, id)) ? { volumeId: null } : null),
        });
      }
      return new Map(rows.map((row) => [row.volume_id, row]));
    },

    /** Bytes in all volumes of the tenant. */
    usedBytes: (tenant: string): Promise<number> => records.usedBytes(tenant),

    /**
     * Makes the directories of a run on this host, with what its volumes hold, and says what is mounted where, the policy
     * applied.
     * @throws LaunchFailure `volume_error`; Problem 503
     */
    async instanceMounts(
      tenant: string,
      { executionId, instanceId, signal }: MountedFor,
      plan: Pick<Plan, "mounts" | "filesystem">,
    ): Promise<InstanceMount[]> {
      const run = { executionId, mounts: plan.mounts, rules: plan.filesystem };
      await requireCompatible(records, run, running);
      for (const { storage_class, volume_id, access_mode } of plan.mounts) {
        if (storage_class !== "persistent") continue;
        const writes = access_mode === "read-write" && !plan.filesystem.read_only;
        await places.arrive({ tenant, volume_id }, { executionId, instanceId, writes }, signal);
      }
      return mountRun(layout, places, run);
    },

    /** An instance of a run ended: what it left is in its volumes. Repeatable. @throws Problem 503 */
    instanceEnded: (instanceId: string, signal: AbortSignal | null) => places.land(instanceId, signal),

    /** Calls `exceeded` once the execution has written more than one of the bounds allows (`size-watch.ts`). */
    watchLimits(watched: Watched): () => void {
      const noteUsage = async (id: string, bytes: number, files: number): Promise<void> => {
        await records.noteUsage(id, bytes, files, null);
      };
      return watchLimits({ layout, bounds, noteUsage }, watched);
    },
  };
}
