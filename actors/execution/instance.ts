/** The sandbox instance of the current iteration: asked for, picked up, replaced, given up. */
import type { IterationRun } from "./activities.ts";
import type { Life } from "./life.ts";
import { closeLoop } from "./loop.ts";
import { refusals } from "./refusal.ts";
import type { Iteration } from "./state.ts";

export const runId = (instanceId: string): string => `run:${instanceId}`;
export const validateId = (instanceId: string): string => `validate:${instanceId}`;
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
    model_fault: null,
  };
}

/** Asks for a slot and an instance. `replaces`: an earlier one that must be gone before. */
export function runInstance(life: Life, replaces: string | null): void {
  const { number: iteration, attempt, instance_id } = life.iteration;
  const input: IterationRun = { execution_id: life.executionId, iteration, attempt, instance_id, replaces };
  life.perform("iteration.run", runId(instance_id), input, "instance_ended");
}

/** A node has a slot for the instance: the iteration's time begins. */
export function instancePickedUp(life: Life): void {
  const { iteration, state } = life;
  const { now } = life.context;
  iteration.phase = "running";
  noteStarted(life);
  const endsAt = now + state.header.iteration_timeout_ms;
  if (state.deadline_at !== null && endsAt >= state.deadline_at) return;
  iteration.deadline_at = endsAt;
  const { instance_id } = iteration;
  life.schedule(iterationTimer(instance_id), endsAt, "iteration_deadline", { instance_id });
}

export function noteStarted(life: Life): void {
  const { iteration } = life;
  if (iteration.started_at !== null) return;
  iteration.started_at = life.context.now;
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

/** Stops whatever the current iteration still has under way. */
export function giveUpIteration(life: Life): void {
  const { iteration } = life;
  if (iteration.phase === "waiting" || iteration.phase === "running") {
    life.abandon(runId(iteration.instance_id));
    closeInstance(life, null);
  }
  if (iteration.phase === "validating") life.abandon(validateId(iteration.instance_id));
  iteration.phase = "over";
}

/** The instance is gone, or as good as gone: its loop and its timer go with it. */
export function closeInstance(life: Life, exitCode: number | null): void {
  const { iteration } = life;
  if (iteration.deadline_at !== null) life.cancelTimer(iterationTimer(iteration.instance_id));
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
