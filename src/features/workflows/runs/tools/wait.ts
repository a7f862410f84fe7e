/** The tool `workflow.wait`: answers once a run has ended, or its caller's time is up. */

import { type Static, Type } from "@sinclair/typebox";
import { execution } from "../../../../../actors/execution/execution.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import type { RunRecord } from "../../../../../actors/workflow/run/record/record.ts";
import { workflowRun } from "../../../../../actors/workflow/run/run.ts";
import type { Runtime } from "../../../../runtime/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../../../management-tools/port.ts";
import { ToolFailure } from "../../../tools/port.ts";
import { isTerminal } from "../log/log.ts";
import type { Runs } from "../service.ts";

const Arguments = Type.Object({
  execution_id: Type.String({ format: "uuid" }),
  poll_interval_seconds: Type.Integer({ minimum: 1, maximum: 60, default: 5 }),
  timeout_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 300 }),
});
type Arguments = Static<typeof Arguments>;

export interface WaitOptions {
  readonly runs: Pick<Runs, "record">;
  readonly runtime: Pick<Runtime, "of">;
}

export function waitTool(options: WaitOptions): ManagementTool {
  return defineTool({
    name: "svc.workflow.wait",
    effect: "reads",
    aliases: ["svc.execute.wait"],
    description: "Wait until an execution of a workflow has ended, and get its output",
    scope: "workflow:read",
    arguments: Arguments,
    call: (caller, given) => wait(options, caller, { ...given, execution_id: given.execution_id.toLowerCase() }),
  });
}

async function wait(options: WaitOptions, caller: ToolCaller, given: Arguments): Promise<object> {
  const { execution_id, poll_interval_seconds, timeout_seconds } = given;
  const { tenant, signal } = caller;
  if (await isAncestor(options, caller, execution_id)) {
    throw new ToolFailure("wait_on_ancestor", "An execution cannot wait for one that it is part of");
  }
  const deadline = performance.now() + timeout_seconds * 1000;
  for (;;) {
    const record = await recordOf(options, tenant, execution_id);
    if (record.ended_at !== null) return { ...outcome(record), timed_out: false };
    const left = deadline - performance.now();
    if (left <= 0) {
      const message = `The execution had not ended after ${timeout_seconds} s`;
      return { ...outcome(record), waiting_for: record.waiting_for, timed_out: true, message };
    }
    signal.throwIfAborted();
    // Its end is heard of at once; looking again now and then is for the case that the news is lost.
    await untilOver(options, caller, execution_id, Math.min(left, poll_interval_seconds * 1000));
    signal.throwIfAborted();
  }
}

function outcome(record: RunRecord) {
  const { execution_id, workflow_id, status, current_state, blackboard, final_output } = record;
  const { started_at, last_transition_at, ended_at } = record;
  return {
    execution_id,
    workflow_id,
    status,
    current_state,
    blackboard,
    last_output: final_output,
    final_output,
    started_at,
    last_transition_at,
    ended_at,
  };
}

/** @throws ToolFailure `not_found` */
async function recordOf({ runs }: WaitOptions, tenant: string, executionId: string): Promise<RunRecord> {
  try {
    return await runs.record(tenant, executionId);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "workflow_execution_not_found") throw error;
    throw new ToolFailure("not_found", "There is no such workflow execution");
  }
}

/** Resolves with the run's end, or when the time is up, or the caller is gone. */
function untilOver({ runtime }: WaitOptions, { tenant, signal }: ToolCaller, id: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      stop();
      resolve();
    };
    const timer = setTimeout(() => done(), ms);
    const stop = runtime
      .of(workflowRun)
      .at(tenant, id)
      .tail(0, (entries, ended) => {
        if (ended || entries.some(isTerminal)) done();
      });
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Whether the calling execution stands below the run, and so would wait for itself. */
async function isAncestor(
  { runtime }: WaitOptions,
  { tenant, executionId, who }: ToolCaller,
  awaited: string,
): Promise<boolean> {
  if (who?.run !== undefined) {
    const { id } = who.run;
    const run = (await runtime.of(workflowRun).readListed(tenant, [id])).get(id);
    return [id, ...(run?.header.path ?? [])].includes(awaited);
  }
  if (executionId === null) return false;
  const caller = (await runtime.of(execution).readListed(tenant, [executionId])).get(executionId);
  if (caller === undefined) return false;
  const { header } = caller;
  const { path, parent_execution_id } = header.hierarchy;
  return [...path, parent_execution_id, header.workflow_execution_id].includes(awaited);
}
