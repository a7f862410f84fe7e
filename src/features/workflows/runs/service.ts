/** What can be done with runs of workflows. Routes, tools, parent runs and stimuli all come through here. */

import { Problem } from "../../../../actors/kernel/problem.ts";
import type { RunRecord } from "../../../../actors/workflow/run/record/record.ts";
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import { maxBuffered } from "../../../../actors/workflow/run/signals/signals.ts";
import type { Address } from "../../../runtime/port.ts";
import type { AuditedBy } from "../../audit/port.ts";
import { type FoundRun, notFound, type RunHistoryOptions, runHistory } from "./log/history.ts";
import type { RunSignal } from "./request.ts";
import { type RunStartsOptions, runStarts } from "./start/starting.ts";

export type RunsOptions = RunHistoryOptions & RunStartsOptions;

/** Runs of a removed workflow that are told at once to end. */
const tellsAtOnce = 500;

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(options: RunsOptions) {
  const { runtime, records } = options;
  const runs = runtime.of(workflowRun);
  const { listed, load, ...history } = runHistory(options);
  const { record } = history;
  const { beginAs, startAs, startedAs, retryAs, forkAs, admitFollower } = runStarts(options, { listed, load });

  /**
   * Cancels every run of these workflows that has not ended, of any starter; resolves when that is committed, since no
   * sweep looks for runs of removed workflows. Repeatable.
   */
  async function cancelOfWorkflow(workflowIds: readonly string[], reason: string): Promise<void> {
    const unfinished = await records.unfinishedOf(workflowIds);
    for (let from = 0; from < unfinished.length; from += tellsAtOnce) {
      const some = unfinished.slice(from, from + tellsAtOnce);
      const cancel = ({ tenant, run_id }: (typeof some)[number]) =>
        runs.at(tenant, run_id).ask("cancel", { reason }, { repeatable: true });
      await Promise.all(some.map(cancel));
    }
  }

  async function setPaused({ at }: FoundRun, type: "pause" | "resume"): Promise<RunRecord> {
    const reply = await runs.at(at.tenant, at.key).ask(type, {});
    if (reply.outcome === "unknown") throw notFound();
    if (reply.outcome === "already_terminal") throw alreadyTerminal(reply.status);
    return record(at.tenant, at.key);
  }

  return {
    ...history,
    load,
    /** Of a run that this node starts. */
    newId: runs.newId,
    beginAs,
    startAs,
    startedAs,
    retryAs,
    forkAs,
    admitFollower,

    /**
     * Repeatable.
     * @param compensates what was done is undone, also where the definition does not ask for that
     * @throws Problem 409 `execution_already_terminal` when it ended otherwise, or has come to another end
     */
    async cancel({ at }: FoundRun, reason: string | null, compensates = false) {
      const compensate = compensates ? { compensate: true } : {};
      const reply = await runs.at(at.tenant, at.key).ask("cancel", { reason, ...compensate });
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "already_terminal") throw alreadyTerminal(reply.status);
      return { status: "cancel_requested", execution_id: at.key } as const;
    },

    /** What is under way ends, and no further state is entered. Repeatable. @throws Problem 409 */
    pause: (run: FoundRun): Promise<RunRecord> => setPaused(run, "pause"),

    /** Repeatable. @throws Problem 409 */
    resume: (run: FoundRun): Promise<RunRecord> => setPaused(run, "resume"),

    /** On record in the audit log: cancels it if need be, then removes its record and its log. @throws Problem 404 */
    async erase({ at }: Pick<FoundRun, "at">, by: AuditedBy) {
      const reply = await runs.at(at.tenant, at.key).ask("erase", { by });
      if (reply.outcome === "unknown") throw notFound();
      return { status: "removed", execution_id: at.key, success: true } as const;
    },

    /**
     * Where the run has a signal go. The same again under the same `workId` does nothing more.
     * @throws Problem 404; 409 `execution_already_terminal`; 429 `signal_buffer_full`
     */
    async signal({ tenant, key }: Address, { signalName, carried }: RunSignal, workId: string | null) {
      const body = { signal_name: signalName, ...carried, work_id: workId };
      const reply = await runs.at(tenant, key).ask("signal", body);
      if (reply.outcome === "unknown") throw notFound();
      if (reply.outcome === "already_terminal") throw alreadyTerminal(reply.status, reply.continued_as);
      if (reply.outcome !== "buffer_full") return reply;
      throw new Problem("signal_buffer_full", `The execution keeps ${maxBuffered} signals already`);
    },

    /** For `workflows`: how many runs the tenant started of each. */
    countByWorkflow: records.countByWorkflow,

    /** For `workflows`: runs that have not ended, of any starter; at most `limit`. */
    async unfinishedOf(workflowIds: readonly string[], limit: number): Promise<readonly string[]> {
      const rows = await records.unfinishedOf(workflowIds, limit);
      return rows.map(({ run_id }) => run_id);
    },

    cancelOfWorkflow,
  };
}

/** @param continuedAs the run that follows it */
function alreadyTerminal(status: string, continuedAs?: string): Problem {
  const details = { status, ...(continuedAs === undefined ? {} : { continued_as: continuedAs }) };
  return new Problem("execution_already_terminal", "The execution has already ended", details);
}
