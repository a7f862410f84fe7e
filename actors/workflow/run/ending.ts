/**
 * The four ways a run ends. Each has one terminal event, and nothing comes after it. The state at work has been left
 * before, or has come to its result. Before an end that is none of success, compensations may be due.
 */

import { shortened } from "../../execution/ending.ts";
import type { Json } from "../../kernel/json.ts";
import { TemplateError } from "../../template/template.ts";
import { admissionId } from "./activities/admission.ts";
import { cleanup } from "./activities.ts";
import { finalOutput } from "./blackboard/output.ts";
import { beginCompensations, isDue } from "./ends/compensation.ts";
import { followerOf, startFollower } from "./ends/continuing.ts";
import type { StateResult } from "./kind.ts";
import { dropNotes } from "./lines.ts";
import { type RunEnd, workflowRunProtocol } from "./messages.ts";
import { tellSchedule } from "./of-schedule.ts";
import { type CameTo, DEADLINE, isCompensating, type RunEnding, type RunStatus } from "./state.ts";
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
  const output = rendered(run, "The output", finalOutputOf);
  if (output === undefined) return;
  const follower = rendered(run, "The input of the run that follows", followerOf);
  if (follower === undefined) return;
  const summary = summaryOf(run, result);
  if (follower !== null) startFollower(run, follower);
  end(run, "completed", { final_output: output, summary });
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
 * The run has failed, or the line in focus has, or the compensation at work.
 * @param whole the run has, whichever line is in focus: its limits are those of all lines together. Items are apart
 */
export function fail(run: RunTurn, code: string, reason: string, whole = false): void {
  if (run.line !== null) {
    dropNotes(run);
    const end = { status: "failed", error: reason, error_code: code } as const;
    run.changeLine({ end: whole && run.state.header.batch === undefined ? { ...end, whole } : end });
    return;
  }
  if (isCompensating(run.state)) {
    stopCompensating(run, reason);
    return;
  }
  comeTo(run, { status: "failed", error: reason, error_code: code, reason: null, summary: shortened(reason) });
}

/** @param compensates whether what was done is undone; undefined: as the definition says */
export function cancel(run: RunTurn, reason: string | null, compensates?: boolean): void {
  const told = reason === null ? "The run was cancelled" : `The run was cancelled: ${reason}`;
  comeTo(run, { status: "cancelled", error: null, error_code: null, reason, summary: shortened(told) }, compensates);
}

export function timeOut(run: RunTurn): void {
  const error = `The run took longer than ${timeoutSeconds(run)} s`;
  comeTo(run, { status: "timed_out", error, error_code: "execution_timeout", reason: null, summary: error });
}

const timeoutSeconds = (run: RunTurn): number => (run.state.header.timeout_ms ?? 0) / 1000;

function comeTo(run: RunTurn, came: CameTo, compensates?: boolean): void {
  if (isDue(run.state, came.status, compensates)) beginCompensations(run, came);
  else conclude(run, came);
}

/** The compensation at work has failed for good: what is left is not undone, and the run ends as it would have. */
export function stopCompensating(run: RunTurn, error: string): void {
  const { compensation } = run.state;
  const [undone] = compensation?.remaining ?? [];
  if (compensation === undefined || undone === undefined) return;
  const { name, visit, by } = undone;
  run.emit("WorkflowCompensationFailed", {
    message: shortened(`${by} did not undo visit ${visit} of ${name}: ${error}`),
    state_name: by,
    details: { state_name: by, of_state: name, of_visit: visit, error },
  });
  run.change({ compensation: { ...compensation, status: "failed" } });
  conclude(run, compensation.end);
}

/** Everything that there was to undo is undone. */
export function endCompensated(run: RunTurn): void {
  const { compensation } = run.state;
  if (compensation === undefined) return;
  run.change({ compensation: { ...compensation, status: "done" } });
  conclude(run, compensation.end);
}

function conclude(run: RunTurn, came: CameTo): void {
  const { status, ...ending } = came;
  end(run, status, ending);
  const { error, error_code, reason } = ending;
  switch (status) {
    case "failed":
      run.emit("WorkflowExecutionFailed", {
        message: shortened(error ?? "The run failed"),
        details: { reason: error, error_code, failed_at: run.at },
      });
      return;
    case "cancelled":
      run.emit("WorkflowExecutionCancelled", {
        message: "The run was cancelled",
        details: { reason, cancelled_at: run.at },
      });
      return;
    default:
      run.emit("WorkflowExecutionTimedOut", {
        message: error ?? "The run took too long",
        details: { timeout_seconds: timeoutSeconds(run), timed_out_at: run.at },
      });
  }
}

function end(run: RunTurn, status: RunStatus, ending: Partial<RunEnding>): void {
  if (run.state.deadline_at !== null) run.cancelTimer(DEADLINE);
  if (run.state.status === "pending") run.abandon(admissionId(run.id, run.state.admission_deaths));
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
  tellSchedule(run, run.state.continued_as ?? null);
}

/** Undefined when it cannot be rendered: then the run has failed. */
function rendered<T>(run: RunTurn, what: string, render: (run: RunTurn) => T): T | undefined {
  try {
    return render(run);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    fail(run, error.code, `${what} cannot be rendered: ${error.message}`);
    return undefined;
  }
}

/** @throws TemplateError */
function finalOutputOf(run: RunTurn): Json {
  const { definition, blackboard } = run.state;
  const { output, kept } = finalOutput(definition, blackboard, run.effort, run.pathMissing);
  for (const { key, type } of kept) {
    run.emit("WorkflowOutputCoercionFailed", {
      message: `The output ${key} is no ${type}; it stays text`,
      details: { key, type },
    });
  }
  return output;
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
