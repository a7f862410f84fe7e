/**
 * The four ways a run ends. Each has one terminal event, and nothing comes after it. The state at work has been left
 * before, or has come to its result.
 */

import { shortened } from "../../execution/ending.ts";
import type { Json } from "../../kernel/json.ts";
import { TemplateError } from "../../template/template.ts";
import { cleanup } from "./activities.ts";
import { finalOutput } from "./blackboard/output.ts";
import type { StateResult } from "./kind.ts";
import { dropNotes } from "./lines.ts";
import { type RunEnd, workflowRunProtocol } from "./messages.ts";
import { DEADLINE, type RunEnding, type RunStatus } from "./state.ts";
import type { RunTurn } from "./turn.ts";

/**
 * The run, or the line in focus, has come to its end. A run whose time was up before is no completion: the stored
 * deadline decides, whether or not its timer has run.
 * @param result of the last state
 */
export function complete(run: RunTurn, result: StateResult): void {
  if (run.line !== null) {
    dropNotes(run);
    run.changeLine({ end: { status: "completed", error: null, error_code: null } });
    return;
  }
  const { deadline_at } = run.state;
  if (deadline_at !== null && run.now >= deadline_at) {
    timeOut(run);
    return;
  }
  const output = finalOutputOf(run);
  if (output === undefined) return;
  end(run, "completed", { final_output: output, summary: summaryOf(run, result) });
  run.emit("WorkflowExecutionCompleted", {
    message: "The run completed",
    details: {
      final_blackboard: run.state.blackboard,
      final_output: output,
      artifacts: artifactsOf(run),
      completed_at: run.at,
    },
  });
}

/**
 * The run has failed, or the line in focus has.
 * @param whole the run has, whichever line is in focus: its limits are those of all lines together. Items are apart
 */
export function fail(run: RunTurn, code: string, reason: string, whole = false): void {
  if (run.line !== null) {
    dropNotes(run);
    const end = { status: "failed", error: reason, error_code: code } as const;
    run.changeLine({ end: whole && run.state.header.batch === undefined ? { ...end, whole } : end });
    return;
  }
  end(run, "failed", { error: reason, error_code: code, summary: shortened(reason) });
  run.emit("WorkflowExecutionFailed", {
    message: shortened(reason),
    details: { reason, error_code: code, failed_at: run.at },
  });
}

export function cancel(run: RunTurn, reason: string | null): void {
  const told = reason === null ? "The run was cancelled" : `The run was cancelled: ${reason}`;
  end(run, "cancelled", { reason, summary: shortened(told) });
  run.emit("WorkflowExecutionCancelled", {
    message: "The run was cancelled",
    details: { reason, cancelled_at: run.at },
  });
}

export function timeOut(run: RunTurn): void {
  const seconds = (run.state.header.timeout_ms ?? 0) / 1000;
  const error = `The run took longer than ${seconds} s`;
  end(run, "timed_out", { error, error_code: "execution_timeout", summary: error });
  run.emit("WorkflowExecutionTimedOut", {
    message: error,
    details: { timeout_seconds: seconds, timed_out_at: run.at },
  });
}

function end(run: RunTurn, status: RunStatus, ending: Partial<RunEnding>): void {
  if (run.state.deadline_at !== null) run.cancelTimer(DEADLINE);
  run.move({ current: null, next: null });
  run.change({
    status,
    paused_at: null,
    ending: {
      at: run.now,
      final_output: null,
      error: null,
      error_code: null,
      reason: null,
      summary: null,
      ...ending,
    },
  });
  releaseVolumes(run);
  tellParent(run);
}

/** Undefined when it cannot be rendered: then the run has failed. */
function finalOutputOf(run: RunTurn): Json | undefined {
  const { definition, blackboard } = run.state;
  try {
    const { output, kept } = finalOutput(definition, blackboard, run.effort, run.pathMissing);
    for (const { key, type } of kept) {
      run.emit("WorkflowOutputCoercionFailed", {
        message: `The output ${key} is no ${type}; it stays text`,
        details: { key, type },
      });
    }
    return output;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    fail(run, error.code, `The output cannot be rendered: ${error.message}`);
    return undefined;
  }
}

/** What the run leaves behind: its persistent volumes. */
function artifactsOf(run: RunTurn): Json {
  return run.state.header.volumes
    .filter(({ storage_class }) => storage_class === "persistent")
    .map(({ name, volume_id }) => ({ type: "volume", name, volume_id }));
}

/** A sentence for people: what the last state says, or that the run came to its end where it says nothing. */
function summaryOf(run: RunTurn, result: StateResult): string {
  const told = [result.output, result.stdout, result.response].find(
    (one) => typeof one === "string" && one.trim() !== "",
  );
  if (typeof told === "string") return shortened(told.trim());
  const { current_state, transition_count } = run.state;
  return `The run completed in ${current_state ?? "its last state"}, its ${transition_count}${ordinal(transition_count)} state`;
}

const ordinal = (count: number): string => {
  const teen = count % 100 >= 11 && count % 100 <= 13;
  return teen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
};

/** What was mounted is let go; what was made for this run alone is removed. */
function releaseVolumes(run: RunTurn): void {
  const { volumes, attachments } = run.state.header;
  if (volumes.length === 0 && attachments.length === 0) return;
  const ephemeral = volumes.filter(({ storage_class }) => storage_class === "ephemeral");
  const input = { execution_id: run.id, volume_ids: ephemeral.map(({ volume_id }) => volume_id) };
  run.perform(cleanup, input, { id: `cleanup:${run.id}`, then: "cleaned_up" });
}

function tellParent(run: RunTurn): void {
  const { header, status, transition_count, current_state, blackboard, ending } = run.state;
  if (header.parent === null || !header.parent.waits) return;
  const end: RunEnd = {
    child_execution_id: run.id,
    workflow_id: header.workflow_id,
    status,
    iterations: transition_count,
    final_state: current_state,
    output:
      current_state !== null && Object.hasOwn(blackboard, current_state) ? (blackboard[current_state] ?? null) : null,
    final_output: ending?.final_output ?? null,
    blackboard,
    error: ending?.error ?? null,
    error_code: ending?.error_code ?? null,
  };
  run.tell(workflowRunProtocol, header.parent.told ?? header.parent.execution_id, "run_ended", end);
}
