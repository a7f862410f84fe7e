/** The sandbox instance of the current iteration: asked for, picked up, replaced, given up. */

import { type IterationRun, inlineRun, iterationRunAt } from "../activities.ts";
import { iterationTimer } from "../deadlines.ts";
import { giveUpValidation } from "../judging/validation.ts";
import { closeLoop } from "../loop/loop.ts";
import { refusals } from "../loop/refusal.ts";
import type { PullNews } from "../messages.ts";
import type { Iteration } from "../state.ts";
import { trimText } from "../trim.ts";
import type { ExecutionTurn } from "../turn.ts";
import { noteInstance } from "../usage.ts";

/** Of what a registry says about an image. */
const maxErrorBytes = 4096;

export const runId = (instanceId: string): string => `run:${instanceId}`;

export function freshIteration(number: number, action: string, instanceId: string): Iteration {
  return {
    number,
    attempt: 1,
    phase: "waiting",
    instance_id: instanceId,
    action,
    spawned: false,
    started_at: null,
    deadline_at: null,
    exit_code: null,
    console: { stdout: 0, stderr: 0, stored: 0, full: false },
    heard: 0,
    recorded: 0,
    logged: 0,
    loop: null,
    dispatches: [],
    validation: null,
    egress_blocked: 0,
    model_fault: null,
  };
}

/** Asks for a slot and an instance. `replaces`: an earlier one that must be gone before. */
export function runInstance(turn: ExecutionTurn, replaces: string | null): void {
  const { number: iteration, attempt, instance_id } = turn.iteration;
  const input: IterationRun = { execution_id: turn.executionId, iteration, attempt, instance_id, replaces };
  const { inline, hierarchy } = turn.state.header;
  const activity = inline === true ? inlineRun : iterationRunAt(hierarchy.depth);
  turn.perform(activity, input, { id: runId(instance_id), then: "instance_ended" });
}

/** What the record says of an iteration past its time. */
export const iterationTimedOut = (timeoutMs: number): string => `The iteration took longer than ${timeoutMs / 1000} s`;

/** A node has a slot for the instance: the iteration's time begins. */
export function instancePickedUp(turn: ExecutionTurn): void {
  const { iteration, state } = turn;
  const { now } = turn.context;
  iteration.phase = "running";
  noteStarted(turn);
  const isInline = state.header.inline === true;
  // Nothing has to be made for it first.
  if (isInline) instanceSpawned(turn);
  const endsAt = now + state.header.iteration_timeout_ms;
  if (state.deadline_at !== null && endsAt >= state.deadline_at) return;
  iteration.deadline_at = endsAt;
  // The activity that runs it watches the time: where none does, nothing is under way.
  if (isInline) return;
  const { instance_id } = iteration;
  turn.schedule(iterationTimer(instance_id), endsAt, "iteration_deadline", { instance_id });
}

/** The instance is there. */
export function instanceSpawned(turn: ExecutionTurn): void {
  const { iteration } = turn;
  iteration.spawned = true;
  iteration.spawned_at = turn.context.now;
  turn.emit("instance_spawned", {
    iteration_number: iteration.number,
    instance_id: iteration.instance_id,
    spawned_at: turn.at,
  });
}

/** Events of one instance about refused connections; the security incidents count the rest. */
const maxEgressBlocked = 100;

/** The egress proxy refused the instance a connection. */
export function noteEgressBlocked(
  turn: ExecutionTurn,
  { host, port, reason }: { readonly host: string; readonly port: number; readonly reason: string },
): void {
  const { iteration } = turn;
  if (iteration.egress_blocked >= maxEgressBlocked) return;
  iteration.egress_blocked += 1;
  turn.emit("egress_blocked", { iteration_number: iteration.number, host, port, reason, blocked_at: turn.at });
}

/** The image of the instance is being fetched, is there, or cannot be had. Told again, it is an event again. */
export function notePull(turn: ExecutionTurn, news: PullNews): void {
  const told = { image: news.image, timestamp: turn.at };
  switch (news.stage) {
    case "image_pull_started":
      turn.emit(news.stage, told);
      break;
    case "image_pull_completed":
      turn.emit(news.stage, { ...told, duration_ms: news.duration_ms });
      break;
    case "image_pull_failed":
      turn.emit(news.stage, { ...told, error: trimText(news.error, maxErrorBytes) });
  }
}

export function noteStarted(turn: ExecutionTurn): void {
  const { iteration } = turn;
  if (iteration.started_at !== null) return;
  iteration.started_at = turn.context.now;
  turn.state.iterations_begun = iteration.number;
  turn.emit("iteration_started", {
    iteration_number: iteration.number,
    action: iteration.action,
    started_at: turn.at,
  });
}

/** The same iteration under a new instance; what it stored of its output stays counted. */
export function replaceInstance(turn: ExecutionTurn): void {
  closeInstance(turn, null);
  const { number, action, attempt, started_at, console, instance_id } = turn.iteration;
  turn.state.iteration = {
    ...freshIteration(number, action, turn.context.newId()),
    attempt,
    started_at,
    console: { ...console, stdout: 0, stderr: 0 },
  };
  runInstance(turn, instance_id);
}

/** Stops what the current iteration still has under way. */
export function giveUpIteration(turn: ExecutionTurn): void {
  const { iteration } = turn;
  if (iteration.phase === "waiting" || iteration.phase === "running") abandonInstance(turn);
  giveUpValidation(turn);
  iteration.phase = "over";
}

/** Ends the instance by force. */
export function abandonInstance(turn: ExecutionTurn): void {
  turn.abandon(runId(turn.iteration.instance_id));
  closeInstance(turn, null);
}

/** The instance is gone, or as good as gone: its loop and its timer go with it. */
export function closeInstance(turn: ExecutionTurn, exitCode: number | null): void {
  const { iteration, state } = turn;
  // Its calls are told whether its time was up; where they all waited for people, its clocks go on.
  closeLoop(turn, "expired", refusals.executionNotRunning);
  const hasTimer = iteration.deadline_at !== null && state.header.inline !== true;
  if (hasTimer) turn.cancelTimer(iterationTimer(iteration.instance_id));
  iteration.deadline_at = null;
  if (!iteration.spawned) return;
  iteration.spawned = false;
  noteInstance(turn);
  turn.emit("instance_terminated", {
    iteration_number: iteration.number,
    instance_id: iteration.instance_id,
    terminated_at: turn.at,
    exit_code: exitCode,
  });
}
