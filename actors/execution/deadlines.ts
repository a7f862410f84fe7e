/** The timers that the state of an execution asks for, and when the whole execution has one. */
import { schedule } from "../kernel/effect.ts";
import { type ExecutionState, isOver } from "./state.ts";
import type { ExecutionTurn } from "./turn.ts";

export const iterationTimer = (instanceId: string): string => `iteration:${instanceId}`;

/**
 * For the whole execution and for the iteration under way, where no activity watches their time. What else is waited for
 * with a timer (a panel of judges, an output handler, a dispatch) ends with these, or with a child's, at the latest.
 */
export function deadlineTimers(state: ExecutionState) {
  const { deadline_at, watched, header, iteration } = state;
  if (isOver(state)) return [];
  const { instance_id } = iteration;
  const endsAt = header.inline === true ? null : iteration.deadline_at;
  return [
    ...(deadline_at === null || watched === true ? [] : [schedule("deadline", deadline_at, "deadline", {})]),
    ...(endsAt === null ? [] : [schedule(iterationTimer(instance_id), endsAt, "iteration_deadline", { instance_id })]),
  ];
}

/** From now on the time of the whole execution is kept by a timer. */
export function keepDeadline(turn: ExecutionTurn, at: number): void {
  delete turn.state.watched;
  turn.schedule("deadline", at, "deadline", {});
}

/** The first exchange is over and the execution is not: no activity watches its time any more. */
export function endWatch(turn: ExecutionTurn): void {
  const { state } = turn;
  if (state.watched !== true || state.deadline_at === null || isOver(state)) return;
  keepDeadline(turn, state.deadline_at);
}
