/** The tool `task.wait`: answers once an execution has ended, or its caller's time is up. */
import { type Static, Type } from "@sinclair/typebox";
import type { ExecutionRecord } from "../../../actors/execution/record/record.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Executions, Found } from "../executions/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";
import { ToolFailure } from "../tools/port.ts";

const Arguments = Type.Object({
  execution_id: Type.String({ format: "uuid" }),
  poll_interval_seconds: Type.Integer({ minimum: 1, maximum: 60, default: 5 }),
  timeout_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 300 }),
});
type Arguments = Static<typeof Arguments>;

export interface TaskWaitOptions {
  readonly executions: Pick<Executions, "find" | "record" | "untilOver">;
}

export function waitTool(options: TaskWaitOptions): ManagementTool {
  return defineTool({
    name: "svc.task.wait",
    aliases: ["svc.agent.wait"],
    effect: "reads",
    description: "Wait until an execution of an agent has ended, and get its output",
    scope: "execution:read",
    arguments: Arguments,
    call: (caller, given) => wait(options, caller, { ...given, execution_id: given.execution_id.toLowerCase() }),
  });
}

async function wait({ executions }: TaskWaitOptions, caller: ToolCaller, given: Arguments): Promise<object> {
  const { execution_id, poll_interval_seconds, timeout_seconds } = given;
  const { tenant, executionId, signal } = caller;
  if (executionId !== null) await refuseOwnWay(executions, tenant, executionId, execution_id);
  const deadline = performance.now() + timeout_seconds * 1000;
  for (;;) {
    const found = await findOrFail(executions, tenant, execution_id);
    const left = deadline - performance.now();
    if (isOver(found.state) || left <= 0) {
      const record = await executions.record(found, false, 0, signal);
      if (isOver(found.state)) return { ...outcome(record), timed_out: false };
      const message = `The execution had not ended after ${timeout_seconds} s`;
      return { ...outcome(record), timed_out: true, message };
    }
    signal.throwIfAborted();
    // Its end is heard of at once; looking again now and then is for the case that the news is lost.
    await executions.untilOver(found.at, Math.min(left / 1000, poll_interval_seconds), signal);
    signal.throwIfAborted();
  }
}

const outcome = (record: ExecutionRecord) => ({
  execution_id: record.execution_id,
  status: record.status,
  iteration_count: record.total_iterations,
  last_output: record.final_output,
  last_error: record.error,
  started_at: record.started_at,
  ended_at: record.ended_at,
});

/** @throws ToolFailure `wait_on_ancestor` where the awaited one waits for the caller */
async function refuseOwnWay(
  executions: TaskWaitOptions["executions"],
  tenant: string,
  executionId: string,
  awaited: string,
): Promise<void> {
  const { hierarchy } = (await executions.find(tenant, executionId)).state.header;
  if (awaited !== executionId && !hierarchy.path.includes(awaited)) return;
  throw new ToolFailure("wait_on_ancestor", "An execution cannot wait for one that it is part of");
}

/** @throws ToolFailure `not_found` for what is none of the tenant's executions */
async function findOrFail({ find }: Pick<Executions, "find">, tenant: string, id: string): Promise<Found> {
  try {
    return await find(tenant, id);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "execution_not_found") throw error;
    throw new ToolFailure("not_found", "There is no such execution");
  }
}
