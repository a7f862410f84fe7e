/** The four ways an execution ends. Each has one terminal event, and nothing comes after it. */

import type { ChildEnd } from "./child.ts";
import { parentMessages, workflowRunKind } from "./child.ts";
import { leaveChildren } from "./children.ts";
import { giveUpIteration } from "./instance.ts";
import type { Life } from "./life.ts";
import type { Status } from "./messages.ts";
import { executionProtocol } from "./messages.ts";
import { sendDeliveries } from "./output/delivery.ts";
import { giveUpHandling } from "./output/handling.ts";
import type { Ending } from "./state.ts";

const summaryLength = 200;

/** The start of a text, at most 200 characters of it. */
export function shortened(text: string): string {
  return text.slice(0, summaryLength).replace(/[\uD800-\uDBFF]$/, "");
}

export function complete(life: Life, output: string): void {
  end(life, "completed", { summary: shortened(output) }, output);
  life.emit("execution_completed", {
    final_output: output,
    total_iterations: life.state.iterations_begun,
    completed_at: life.at,
  });
}

export function fail(life: Life, code: string, reason: string): void {
  end(life, "failed", { summary: shortened(reason), error: reason, error_code: code });
  life.emit("execution_failed", {
    reason,
    error_code: code,
    total_iterations: life.state.iterations_begun,
    failed_at: life.at,
  });
}

export function cancel(life: Life, reason: string | null): void {
  end(life, "cancelled", { reason });
  life.emit("execution_cancelled", { reason, cancelled_at: life.at });
}

export function timeOut(life: Life): void {
  const seconds = life.state.header.timeout_ms / 1000;
  const error = `The execution took longer than ${seconds} s`;
  end(life, "timed_out", { summary: error, error, error_code: "execution_timeout" });
  life.emit("execution_timed_out", {
    timeout_seconds: seconds,
    total_iterations: life.state.iterations_begun,
    timed_out_at: life.at,
  });
}

function end(life: Life, status: Status, ending: Partial<Ending>, output: string | null = null): void {
  const { state } = life;
  state.status = status;
  // What it may call and is judged by: of no use to a record, which is kept for months.
  state.tools = [];
  state.rules = [];
  state.tool_rules = [];
  giveUpHandling(life);
  leaveChildren(life);
  giveUpIteration(life);
  if (state.deadline_at !== null && state.watched !== true) life.cancelTimer("deadline");
  state.ending = {
    at: life.context.now,
    summary: "",
    error: null,
    error_code: null,
    reason: null,
    ...ending,
  };
  sendDeliveries(life, output);
  tellParent(life, status, output);
}

/** The parent of a child may be waiting for it. */
function tellParent(life: Life, status: Status, output: string | null): void {
  const { header, ending } = life.state;
  const { parent_execution_id: parent } = header.hierarchy;
  if (parent === null) return;
  const end: ChildEnd = {
    child_execution_id: life.executionId,
    agent_id: header.agent_id,
    status,
    output,
    error_code: ending?.error_code ?? null,
  };
  // A workflow that started it is its parent; what it starts itself belongs to no workflow.
  const kind = header.workflow_execution_id === parent ? workflowRunKind : executionProtocol.kind;
  life.tell({ kind, messages: parentMessages }, parent, "child_ended", end);
}
