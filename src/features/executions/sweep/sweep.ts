/**
 * What crashes leave behind, found and taken away: instances that no execution wants any more, workspaces
 * past their time, executions of deleted agents, records past their retention.
 *
 * Runs at boot and every five minutes on every node; each step may be repeated, and by several nodes at once.
 */
import { executionEvents } from "../../../../actors/execution/events.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import { outputLog, planLog } from "../../../../actors/execution/start/plan.ts";
import { isOver } from "../../../../actors/execution/state.ts";
import type { Instances } from "../../../adapters/sandbox/port.ts";
import { isUuid } from "../../../http/route.ts";
import { inPortions } from "../../../lib/portions.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import { endInstance } from "../iteration/iteration-run.ts";
import type { ExecutionRecords, OldRow, SweepRow } from "../records.ts";
import { cancelOfDeletedAgents, type DeletedAgentsOptions } from "./deleted-agents.ts";

export interface SweepOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: ExecutionRecords;
  readonly instances: Instances;
  readonly volumes: Pick<Volumes, "heldForRuns" | "removeHeld" | "eraseDeleted" | "measureWritten">;
  /** Runs of workflows hold sandboxes and volumes as well. */
  readonly runs: HeldByRuns;
  readonly deletedAgents: DeletedAgentsOptions;
  /** SVC_EXECUTION_RETENTION_DAYS */
  readonly retentionDays: number;
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

export interface HeldByRuns {
  /** Of the given ids, those of runs, of any tenant. */
  readonly known: (executionIds: readonly string[]) => Promise<readonly SweepRow[]>;
  /** Instances that the given runs of a tenant still work with. */
  readonly wantedInstances: (tenant: string, executionIds: readonly string[]) => Promise<ReadonlySet<string>>;
}

const everyMs = 300_000;
const dayMs = 24 * 3600 * 1000;
/** Records are looked for more often than the rest: they come as fast as executions do, a retention later. */
const eraseEveryMs = 60_000;
/** Executions that are erased at once: they share commits, and leave the lane to other work. */
const eraseAtOnce = 64;
const lookUpAtOnce = 1000;
/** Executions whose logs are trimmed by one statement. */
const trimAtOnce = 500;
/** A round ends after so many batches: a node that stops waits for its round. */
const trimBatches = 100;
/** An execution that ended so long ago is asked for nothing but its record; the bootstrap's last repeats are over. */
const trimAfterMs = 15 * 60_000;
/** What records, files and late deliveries are made of. */
const keptLogs = [executionEvents, planLog, outputLog];

/**
 * The parts of a round. Those that need the database alone come first: a container engine or a disk that fails, or
 * takes long, then holds up nothing else.
 */
const steps = {
  deleted_agents: sweepExecutionsOfDeletedAgents,
  logs: trimEnded,
  instances: sweepInstances,
  volumes: sweepVolumes,
};

/** Sweeps now and then. @returns a function that ends it, after a sweep under way */
export function startSweeping(options: SweepOptions): () => Promise<void> {
  return repeatedly(
    everyMs,
    () => sweep(options),
    (error) => options.report("sweep_failed", { error: String(error) }),
  );
}

/** One round. A step that fails is reported and takes no other with it; what was not done is done next time. */
export async function sweep(options: SweepOptions): Promise<void> {
  for (const [step, work] of Object.entries(steps)) {
    try {
      await work(options);
    } catch (error) {
      options.report("sweep_failed", { step, error: String(error) });
    }
  }
}

async function sweepInstances(options: SweepOptions): Promise<void> {
  const { instances, report } = options;
  const held = await instances.list();
  const wanted = await wantedInstances(
    options,
    held.map(({ executionId }) => executionId),
  );
  for (const { instanceId, executionId } of held) {
    if (wanted.has(instanceId)) continue;
    report("orphan_removed", { instance_id: instanceId, execution_id: executionId });
    await endInstance(instances, instanceId);
  }
}

/** Instances that the given executions still work with, or whose end they may not have heard yet. */
async function wantedInstances(
  { records, runs, runtime }: SweepOptions,
  executionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const wanted = new Set<string>();
  for (const [tenant, rows] of Map.groupBy(await lookUp(runs, executionIds), (row) => row.tenant)) {
    const live = rows.filter(({ ended_at }) => ended_at === null).map(({ id }) => id);
    for (const id of await runs.wantedInstances(tenant, live)) wanted.add(id);
  }
  for (const [tenant, rows] of Map.groupBy(await lookUp(records, executionIds), (row) => row.tenant)) {
    const ids = rows.filter(({ ended_at }) => ended_at === null).map(({ id }) => id);
    for (const state of (await runtime.of(execution).readMany(tenant, ids)).values()) {
      if (!isOver(state)) wanted.add(state.iteration.instance_id);
    }
  }
  return wanted;
}

/** Workspaces and ephemeral volumes past their time, and volumes that were deleted. */
async function sweepVolumes({ volumes, records, runs, now, report }: SweepOptions): Promise<void> {
  const held = await volumes.heldForRuns();
  const ids = held.map(({ executionId }) => executionId);
  const rows = [...(await lookUp(records, ids)), ...(await lookUp(runs, ids))];
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const volume of held) {
    const run = known.get(volume.executionId);
    const isKept = run !== undefined && (run.ended_at === null || now() - run.ended_at.getTime() < volume.ttlMs);
    if (isKept) continue;
    report("workspace_removed", { execution_id: volume.executionId, volume_id: volume.volumeId });
    await volumes.removeHeld(volume);
  }
  await volumes.measureWritten();
  const erased = await volumes.eraseDeleted();
  if (erased > 0) report("volumes_erased", { count: erased });
}

/** Deletions of agents that a crash cut short, or that a start overtook. */
async function sweepExecutionsOfDeletedAgents({ records, deletedAgents, report }: SweepOptions): Promise<void> {
  const count = await cancelOfDeletedAgents(deletedAgents, await records.agentsAtWork());
  if (count > 0) report("left_behind_cancelled", { agents: count });
}

/**
 * Conversations, loaded context and the results of instances are of no more use once an execution has ended: what
 * records show of them is in the events.
 */
async function trimEnded({ runtime, records, now }: SweepOptions): Promise<void> {
  const before = new Date(now() - trimAfterMs);
  for (let batch = 0; batch < trimBatches; batch++) {
    const ended = await records.toTrim(before, trimAtOnce);
    const last = ended.at(-1);
    if (last === undefined) return;
    await runtime.of(execution).eraseLogs(
      ended.map(({ id }) => id),
      keptLogs,
    );
    await records.noteTrimmed(last.ended_until);
  }
}

export interface ErasingOptions extends Pick<SweepOptions, "runtime" | "records" | "retentionDays" | "now" | "report"> {
  readonly volumes: Pick<Volumes, "removeOfErased">;
}

/** Erases records past their retention, now and then all there are. @returns a function that ends it */
export function startErasing(options: ErasingOptions): () => Promise<void> {
  let isStopping = false;
  const stop = repeatedly(
    eraseEveryMs,
    () => eraseOld(options, () => isStopping),
    (error) => options.report("sweep_failed", { step: "records", error: String(error) }),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

/** Each node those that live in its partitions. */
async function eraseOld(options: ErasingOptions, isStopping: () => boolean): Promise<void> {
  const { runtime, records, volumes, retentionDays, now, report } = options;
  const before = new Date(now() - retentionDays * dayMs);
  const executions = runtime.of(execution);
  const count = await inPortions<OldRow>(
    {
      find: (after, limit) => records.endedBefore(before, after, limit),
      isMine: ({ id }) => executions.isHere(id),
      prepare: (rows) => volumes.removeOfErased(rows.map(({ id }) => id)),
      work: ({ id, tenant }) => executions.at(tenant, id).ask("erase", {}, { unordered: true }),
      atOnce: eraseAtOnce,
      sideBySide: 2,
    },
    isStopping,
  );
  if (count > 0) report("records_erased", { count });
}

async function lookUp(records: Pick<HeldByRuns, "known">, executionIds: readonly string[]): Promise<SweepRow[]> {
  const ids = [...new Set(executionIds)].filter(isUuid);
  const rows: SweepRow[] = [];
  for (let start = 0; start < ids.length; start += lookUpAtOnce) {
    rows.push(...(await records.known(ids.slice(start, start + lookUpAtOnce))));
  }
  return rows;
}
