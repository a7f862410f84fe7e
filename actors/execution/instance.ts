/** The sandbox instance of the current iteration: asked for, picked up, replaced, given up. */

import { type IterationRun, inlineRun, iterationRunAt } from "./activities.ts";
import { giveUpValidation } from "./judging/validation.ts";
import type { Life } from "./life.ts";
import { closeLoop } from "./loop/loop.ts";
import { refusals } from "./loop/refusal.ts";
import type { PullNews } from "./messages.ts";
import type { Iteration } from "./state.ts";
import { trimText } from "./trim.ts";

/** Of what a registry says about an image. */
const maxErrorBytes = 4096;

export const runId = (instanceId: string): string => `run:${instanceId}`;
export const iterationTimer = (instanceId: string): string => `iteration:${instanceId}`;

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
export function runInstance(life: Life, replaces: string | null): void {
  const { number: iteration, attempt, instance_id } = life.iteration;
  const input: IterationRun = { execution_id: life.executionId, iteration, attempt, instance_id, replaces };
  const { inline, hierarchy } = life.state.header;
  const activity = inline === true ? inlineRun : iterationRunAt(hierarchy.depth);
  life.perform(activity, input, { id: runId(instance_id), then: "instance_ended" });
}

/** What the record says of an iteration past its time. */
export const iterationTimedOut = (timeoutMs: number): string => `The iteration took longer than ${timeoutMs / 1000} s`;

/** A node has a slot for the instance: the iteration's time begins. */
export function instancePickedUp(life: Life): void {
  const { iteration, state } = life;
  const { now } = life.context;
  iteration.phase = "running";
  noteStarted(life);
  const isInline = state.header.inline === true;
  // Nothing has to be made for it first.
  if (isInline) instanceSpawned(life);
  const endsAt = now + state.header.iteration_timeout_ms;
  if (state.deadline_at !== null && endsAt >= state.deadline_at) return;
  iteration.deadline_at = endsAt;
  // The activity that runs it watches the time: where none does, nothing is under way.
  if (isInline) return;
  const { instance_id } = iteration;
  life.schedule(iterationTimer(instance_id), endsAt, "iteration_deadline", { instance_id });
}

/** The instance is there. */
export function instanceSpawned(life: Life): void {
  const { iteration } = life;
  iteration.spawned = true;
  life.emit("instance_spawned", {
    iteration_number: iteration.number,
    instance_id: iteration.instance_id,
    spawned_at: life.at,
  });
}

/** Events of one instance about refused connections; the security incidents count the rest. */
const maxEgressBlocked = 100;

/** The egress proxy refused the instance a connection. */
export function noteEgressBlocked(
  life: Life,
  { host, port, reason }: { readonly host: string; readonly port: number; readonly reason: string },
): void {
  const { iteration } = life;
  if (iteration.egress_blocked >= maxEgressBlocked) return;
  iteration.egress_blocked += 1;
  life.emit("egress_blocked", { iteration_number: iteration.number, host, port, reason, blocked_at: life.at });
}

/** The image of the instance is being fetched, is there, or cannot be had. Told again, it is an event again. */
export function notePull(life: Life, news: PullNews): void {
  const told = { image: news.image, timestamp: life.at };
  switch (news.stage) {
    case "image_pull_started":
      life.emit(news.stage, told);
      break;
    case "image_pull_completed":
      life.emit(news.stage, { ...told, duration_ms: news.duration_ms });
      break;
    case "image_pull_failed":
      life.emit(news.stage, { ...told, error: trimText(news.error, maxErrorBytes) });
  }
}

export function noteStarted(life: Life): void {
  const { iteration } = life;
  if (iteration.started_at !== null) return;
  iteration.started_at = life.context.now;
  life.state.iterations_begun = iteration.number;
  life.emit("iteration_started", {
    iteration_number: iteration.number,
    action: iteration.action,
    started_at: life.at,
  });
}

/** The same iteration under a new instance; what it stored of its output stays counted. */
export function replaceInstance(life: Life): void {
  closeInstance(life, null);
  const { number, action, attempt, started_at, console, instance_id } = life.iteration;
  life.state.iteration = {
    ...freshIteration(number, action, life.context.newId()),
    attempt,
    started_at,
    console: { ...console, stdout: 0, stderr: 0 },
  };
  runInstance(life, instance_id);
}

/** Stops what the current iteration still has under way. */
export function giveUpIteration(life: Life): void {
  const { iteration } = life;
  if (iteration.phase === "waiting" || iteration.phase === "running") {
    life.abandon(runId(iteration.instance_id));
    closeInstance(life, null);
  }
  giveUpValidation(life);
  iteration.phase = "over";
}

/** The instance is gone, or as good as gone: its loop and its timer go with it. */
export function closeInstance(life: Life, exitCode: number | null): void {
  const { iteration, state } = life;
  const hasTimer = iteration.deadline_at !== null && state.header.inline !== true;
  if (hasTimer) life.cancelTimer(iterationTimer(iteration.instance_id));
  iteration.deadline_at = null;
  closeLoop(life, "expired", refusals.executionNotRunning);
  if (!iteration.spawned) return;
  iteration.spawned = false;
  life.emit("instance_terminated", {
    iteration_number: iteration.number,
    instance_id: iteration.instance_id,
    terminated_at: life.at,
    exit_code: exitCode,
  });
}
