/** What runs hold, for the sweeps of a node, and the removal of records past their retention. */
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import { isOver } from "../../../../actors/workflow/run/state.ts";
import { type Work, worksOf } from "../../../../actors/workflow/run/work.ts";
import { inPortions } from "../../../lib/portions.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { HeldByRuns, OldRow } from "../../executions/port.ts";
import type { Volumes } from "../../volumes/port.ts";
import { instancesOf as instancesOfCommand } from "./commands/attempts.ts";
import type { RunRecords } from "./records.ts";

/** For the sweep of instances and volumes: see `src/features/executions/sweep/sweep.ts`. */
export function heldByRuns(runtime: Pick<Runtime, "of">, records: Pick<RunRecords, "known">): HeldByRuns {
  return {
    known: records.known,
    async wantedInstances(tenant, executionIds) {
      const states = await runtime.of(workflowRun).readListed(tenant, executionIds);
      const live = [...states.values()].filter((state) => !isOver(state));
      return new Set(live.flatMap(({ current }) => worksOf(current).flatMap(instancesOf)));
    },
  };
}

const prefix = "command:";

/** The sandboxes of commands under way: the activity that runs one is named after it. */
function instancesOf(work: Work): string[] {
  const activities =
    work.of === "command"
      ? [work.activity]
      : work.of === "commands"
        ? work.steps.filter(({ result }) => result === null).map(({ activity }) => activity)
        : [];
  return activities.flatMap((activity) => instancesOfCommand(activity.slice(prefix.length)));
}

export interface RunSweepOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<RunRecords, "endedBefore">;
  readonly volumes: Pick<Volumes, "removeOfErased">;
  /** SVC_EXECUTION_RETENTION_DAYS */
  readonly retentionDays: number;
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 60_000;
const dayMs = 24 * 3600 * 1000;
/** Runs that are erased at once: they share commits, and leave the lane to other work. */
const eraseAtOnce = 64;

/** Erases old records and logs now and then. @returns a function that ends it, after a round under way */
export function startErasing(options: RunSweepOptions): () => Promise<void> {
  let isStopping = false;
  const stop = repeatedly(
    everyMs,
    () => eraseOld(options, () => isStopping),
    (error) => options.report("run_sweep_failed", { error: String(error) }),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}

/** All there are; each node those that live in its partitions. Repeatable. */
async function eraseOld(options: RunSweepOptions, isStopping: () => boolean): Promise<void> {
  const { runtime, records, volumes, retentionDays, now, report } = options;
  const before = new Date(now() - retentionDays * dayMs);
  const runs = runtime.of(workflowRun);
  const count = await inPortions<OldRow>(
    {
      find: (after, limit) => records.endedBefore(before, after, limit),
      isMine: ({ id }) => runs.isHere(id),
      prepare: (rows) => volumes.removeOfErased(rows.map(({ id }) => id)),
      work: ({ id, tenant }) => runs.at(tenant, id).ask("erase", {}, { unordered: true }),
      atOnce: eraseAtOnce,
      sideBySide: 2,
    },
    isStopping,
  );
  if (count > 0) report("run_records_erased", { count });
}
