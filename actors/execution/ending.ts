/** The four ways an execution ends. Each has one terminal event, and nothing comes after it. */

import type { ChildEnd } from "./child.ts";
import { parentMessages, workflowRunKind } from "./child.ts";
import { leaveChildren } from "./children.ts";
import { giveUpIteration } from "./iteration/instance.ts";
import { closeOutsideCalls } from "./loop/outside-calls.ts";
import type { Status } from "./messages.ts";
import { executionProtocol } from "./messages.ts";
import { sendDeliveries } from "./output/delivery.ts";
import { giveUpHandling } from "./output/handling.ts";
import type { Ending } from "./state.ts";
import { leaveSwarm } from "./swarm.ts";
import type { ExecutionTurn } from "./turn.ts";
import { noteExecution } from "./usage.ts";

const summaryLength = 200;

/** The start of a text, at most 200 characters of it. */
export function shortened(text: string): string {
  return text.slice(0, summaryLength).replace(/[\uD800-\uDBFF]$/, "");
}

/** Whether the time of the whole execution is up. The stored deadline decides, whether or not its timer has run. */
export function isPastDeadline({ state, context }: ExecutionTurn): boolean {
  return state.deadline_at !== null && context.now >= state.deadline_at;
}

/** Its output is final. What took longer than the execution had is no completion, even when the last answer says so. */
export function complete(turn: ExecutionTurn, output: string): void {
  if (isPastDeadline(turn)) {
    timeOut(turn);
    return;
  }
  end(turn, "completed", { summary: shortened(output) }, output);
  turn.emit("execution_completed", {
    final_output: output,
    total_iterations: turn.state.iterations_begun,
    completed_at: turn.at,
    ...took(turn),
  });
}

export function fail(turn: ExecutionTurn, code: string, reason: string): void {
  end(turn, "failed", { summary: shortened(reason), error: reason, error_code: code });
  turn.emit("execution_failed", {
    reason,
    error_code: code,
    total_iterations: turn.state.iterations_begun,
    failed_at: turn.at,
    ...took(turn),
  });
}

export const failUnapproved = (turn: ExecutionTurn): void =>
  fail(turn, "tool_approval_timed_out", "No person approved a tool call in time");

export function cancel(turn: ExecutionTurn, reason: string | null): void {
  end(turn, "cancelled", { reason });
  turn.emit("execution_cancelled", { reason, cancelled_at: turn.at, ...took(turn) });
}

export function timeOut(turn: ExecutionTurn): void {
  const seconds = turn.state.header.timeout_ms / 1000;
  const error = `The execution took longer than ${seconds} s`;
  end(turn, "timed_out", { summary: error, error, error_code: "execution_timeout" });
  turn.emit("execution_timed_out", {
    timeout_seconds: seconds,
    total_iterations: turn.state.iterations_begun,
    timed_out_at: turn.at,
    ...took(turn),
  });
}

const took = ({ state, context }: ExecutionTurn) => ({ _took_ms: context.now - (state.started_at ?? context.now) });

function end(turn: ExecutionTurn, status: Status, ending: Partial<Ending>, output: string | null = null): void {
  const { state } = turn;
  state.status = status;
  // What it may call and is judged by: of no use to a record, which is kept for months.
  state.tools = [];
  state.rules = [];
  state.tool_rules = [];
  giveUpHandling(turn);
  closeOutsideCalls(turn);
  leaveChildren(turn);
  giveUpIteration(turn);
  if (state.deadline_at !== null && state.watched !== true) turn.cancelTimer("deadline");
  state.ending = {
    at: turn.context.now,
    summary: "",
    error: null,
    error_code: null,
    reason: null,
    ...ending,
  };
  noteExecution(turn);
  sendDeliveries(turn, output);
  tellParent(turn, status, output);
  leaveSwarm(turn);
}

/** The parent of a child may be waiting for it. */
function tellParent(turn: ExecutionTurn, status: Status, output: string | null): void {
  const { header, ending } = turn.state;
  const { parent_execution_id: parent } = header.hierarchy;
  if (parent === null) return;
  const end: ChildEnd = {
    child_execution_id: turn.executionId,
    agent_id: header.agent_id,
    status,
    output,
    error_code: ending?.error_code ?? null,
    reason: ending?.error ?? ending?.reason ?? null,
  };
  // A workflow that started it is its parent; what it starts itself belongs to no workflow.
  const kind = header.workflow_execution_id === parent ? workflowRunKind : executionProtocol.kind;
  turn.tell({ kind, messages: parentMessages }, header.told ?? parent, "child_ended", end);
}
