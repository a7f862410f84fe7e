/**
 * The deadlines of an iteration and of its execution stand still while every open tool call waits for people.
 *
 * How long that will be is not known, so both are put off by all that is left of SVC_TOOL_WAIT_MAX_SECONDS when the
 * clocks stop, and brought back to what was really waited when they go on. All that compares a deadline with the time is
 * right at every moment, and the timers that a stored state asks for are those that its turns set.
 */

import { iterationTimer } from "../../deadlines.ts";
import type { Waiting } from "../../state.ts";
import type { ExecutionTurn } from "../../turn.ts";
import { tellWaiting } from "./child-waiting.ts";
import { callsWaiting } from "./wait-state.ts";

const none: Waiting = { for: null, since: null, lent_ms: 0, spent_ms: 0 };

/** Brings the clocks in step with the calls of the loop; at the end of each turn that may have changed them. */
export function keepClocks(turn: ExecutionTurn): void {
  const { state } = turn;
  const found = callsWaiting(state, turn.context.now);
  const before = state.waiting ?? none;
  if (state.waiting === undefined && found.next === null) return;
  const isNews = before.for?.approval_id !== found.next?.approval_id;
  state.waiting = { ...before, for: found.next };
  const stands = before.since !== null;
  if (found.allWait && !stands) stop(turn, state.waiting);
  else if (!found.allWait && stands) goOn(turn, state.waiting);
  if (isNews || (state.waiting?.since === null) === stands) tellWaiting(turn);
}

function stop(turn: ExecutionTurn, waiting: Waiting): void {
  const { state } = turn;
  const left = Math.max(0, (state.header.bounds.tool_wait_max_ms ?? 0) - waiting.spent_ms);
  if (left === 0) return;
  state.waiting = { ...waiting, since: turn.context.now, lent_ms: left };
  putOff(turn, left);
}

function goOn(turn: ExecutionTurn, waiting: Waiting): void {
  const { now } = turn.context;
  const { since, lent_ms, spent_ms } = waiting;
  const stood = Math.min(lent_ms, Math.max(0, now - (since ?? now)));
  turn.state.waiting = { ...waiting, since: null, lent_ms: 0, spent_ms: spent_ms + stood };
  putOff(turn, stood - lent_ms);
}

/** Moves both deadlines and their timers. */
function putOff(turn: ExecutionTurn, by: number): void {
  const { state, iteration } = turn;
  const { inline } = state.header;
  if (state.deadline_at !== null) {
    state.deadline_at += by;
    if (state.watched !== true) {
      turn.cancelTimer("deadline");
      turn.schedule("deadline", state.deadline_at, "deadline", {});
    }
  }
  if (iteration.deadline_at === null) return;
  iteration.deadline_at += by;
  // Of an exchange the activity that runs it watches the time.
  if (inline === true) return;
  const { instance_id } = iteration;
  turn.cancelTimer(iterationTimer(instance_id));
  turn.schedule(iterationTimer(instance_id), iteration.deadline_at, "iteration_deadline", { instance_id });
}

/** The deadline as it stands at a moment: while the clocks are stopped it moves along. Unix ms. */
export function deadlineAt(
  { deadline_at, waiting }: { readonly deadline_at: number | null; readonly waiting?: Waiting | undefined },
  now: number,
): number | null {
  if (deadline_at === null || waiting === undefined || waiting.since === null) return deadline_at;
  const stood = Math.min(waiting.lent_ms, Math.max(0, now - waiting.since));
  return deadline_at - waiting.lent_ms + stood;
}
