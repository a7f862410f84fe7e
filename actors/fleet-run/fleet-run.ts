/**
 * The life of a fleet run: one tool on many hosts.
 *
 *   ─start─▶ awaiting_approval ─ approved ─▶ running ⇄ paused ─▶ complete
 *                │                             ├─ too many failures, deadline ─▶ halting ─▶ halted
 *                └─ rejected, timed out ─▶ cancelled ◀─ cancelling ◀─ cancel ─┘
 *
 * It decides which hosts begin, by their places among its targets, and counts how they end. Who they are, and what came
 * of each command, are rows (docs/reference/edge-fleet.md).
 */

import { approvalProtocol } from "../approval/messages.ts";
import { defineActor } from "../kernel/actor.ts";
import type { Context } from "../kernel/turn.ts";
import { advance } from "./advance.ts";
import { begin, decided, proceed, resolvedAnew, start } from "./beginning.ts";
import { ended, gone, offered, ready, stopped } from "./commands.ts";
import { fleetRunProtocol } from "./messages.ts";
import { FleetRunState, isOver, resolvedOf, standingOf } from "./state.ts";
import { summaryOf } from "./targets.ts";
import { RunTurn, type State, timersOf } from "./turn.ts";

/** Callers that wait for a pause at once; further ones are answered at once. */
const maxWaiting = 64;

export const fleetRun = defineActor({
  ...fleetRunProtocol,
  state: FleetRunState,
  timers: timersOf,
  receive: {
    start,
    approval_decided: (state, decision, context) => within(state, context, (turn) => decided(turn, decision)),
    proceed(state, _, context) {
      if (state === null || isOver(state)) return { state, reply: {}, effects: [] };
      const turn = new RunTurn(state, context);
      proceed(turn);
      return turn.turn({});
    },
    resolved: (state, outcome, context) => within(state, context, (turn) => resolvedAnew(turn, outcome)),

    offered: (state, outcome, context) => within(state, context, (turn) => offered(turn, outcome)),
    gone: (state, outcome, context) => within(state, context, (turn) => gone(turn, outcome)),
    stopped: (state, outcome, context) => within(state, context, (turn) => stopped(turn, outcome)),
    command_ready: (state, command, context) => within(state, context, (turn) => ready(turn, command)),
    command_ended: (state, command, context) => within(state, context, (turn) => ended(turn, command)),

    pause(state, { by }, context) {
      if (state === null) return { state, reply: null, effects: [] };
      if (state.status !== "running" && state.status !== "paused") return refused(state);
      const turn = new RunTurn(state, context);
      if (!state.pause_reasons.includes("requested")) turn.audit("paused", by);
      turn.pause("requested");
      advance(turn);
      const { replyTo } = context;
      if (isOver(turn.state) || replyTo === null || turn.state.pausing.length >= maxWaiting)
        return turn.turn({ done: true, ...standingOf(turn.state) });
      turn.change({ pausing: [...turn.state.pausing, { ...replyTo }] });
      return turn.turn();
    },

    resume(state, { by }, context) {
      if (state === null) return { state, reply: null, effects: [] };
      if (state.status !== "running" && state.status !== "paused") return refused(state);
      const turn = new RunTurn(state, context);
      if (state.pause_reasons.length > 0) turn.audit("resumed", by);
      turn.unpause("requested", "canary_done");
      advance(turn);
      return turn.turn({ done: true, ...standingOf(turn.state) });
    },

    cancel(state, { by, reason }, context) {
      if (state === null) return { state, reply: null, effects: [] };
      const turn = new RunTurn(state, context);
      const all = resolvedOf(state);
      const { not_started, in_progress } = summaryOf(state.targets);
      const open = not_started + in_progress;
      if (isOver(state) || state.status === "cancelling") {
        const already_terminal = isOver(state) ? all : all - in_progress;
        return turn.turn({ status: state.status, cancelled: 0, already_terminal });
      }
      turn.audit("cancelled", by, { reason });
      if (state.status === "awaiting_approval") {
        if (state.approval_id !== null && !state.approved)
          turn.tell(
            approvalProtocol,
            state.approval_id,
            "withdraw",
            { reason: reason ?? "cancelled" },
            { coCommit: true },
          );
        turn.end("cancelled", "cancelled");
      } else {
        const cancelled = state.status === "halting" ? in_progress : open;
        turn.wind("cancelling", "cancelled", "cancel");
        advance(turn);
        return turn.turn({ status: turn.state.status, cancelled, already_terminal: all - cancelled });
      }
      return turn.turn({ status: turn.state.status, cancelled: open, already_terminal: all - open });
    },

    hold(state, { reason }, context) {
      const turn = pausable(state, context);
      if (turn === null) return { state, reply: {}, effects: [] };
      turn.pause(reason);
      return turn.turn({});
    },

    unhold(state, { reason }, context) {
      const turn = pausable(state, context);
      if (turn === null) return { state, reply: {}, effects: [] };
      turn.unpause(reason);
      advance(turn);
      return turn.turn({});
    },

    deadline: (state, _, context) =>
      within(state, context, (turn) => {
        const { status } = turn.state;
        if (status !== "running" && status !== "paused") return;
        turn.halt("run_deadline", "The run took longer than it may", "cancel");
      }),

    wake: (state, _, context) => within(state, context, (turn) => turn.change({ wake_at: null })),

    again: (state, _, context) =>
      within(state, context, (turn) => {
        turn.change({ again_at: null });
        const { status, approved, resolving, unstopped } = turn.state;
        if (status === "awaiting_approval" && approved && resolving === null && !turn.isUnclaimed) begin(turn);
        if (unstopped.length === 0) return;
        turn.change({ unstopped: [] });
        turn.stop(unstopped);
      }),

    unclaimed: (state, _, context) =>
      within(state, context, (turn) => {
        if (turn.isUnclaimed) turn.end("cancelled", "cancelled");
      }),

    erase: () => ({ state: null, reply: {}, effects: [] }),
  },
});

/** A message of no answer: the run goes on after it. One that comes too late changes nothing. */
function within(state: State, context: Context, work: (turn: RunTurn) => void) {
  if (state === null || isOver(state)) return { state, effects: [] };
  const turn = new RunTurn(state, context);
  work(turn);
  advance(turn);
  return turn.turn();
}

function pausable(state: State, context: Context): RunTurn | null {
  const isAtWork = state?.status === "running" || state?.status === "paused";
  return state !== null && isAtWork ? new RunTurn(state, context) : null;
}

const refused = (state: FleetRunState) => ({ state, reply: { done: false, ...standingOf(state) }, effects: [] });
