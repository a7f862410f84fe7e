/**
 * An edge host as the service sees it: its link, and the commands that runs hand over to it.
 *
 *   disconnected ─hello─▶ connected ⇄ unhealthy ─ silent, closed ─▶ disconnected;   revoke ends it from anywhere
 *
 *   pending ─▶ dispatched ─▶ running ─▶ ended, as docs/reference/edge-link.md has it
 *
 * A command is sent by the turn that counts it, under the epoch of the link. It ends once: what ends it is told to its run
 * in the same commit, and is remembered, so that a repeated offer does not start it again.
 */
import { defineActor } from "../kernel/actor.ts";
import { schedule } from "../kernel/effect.ts";
import type { Context, Turn } from "../kernel/turn.ts";
import { revokedReason } from "./command.ts";
import { helloTaken, mark, unknownNode, welcomeOf } from "./hello.ts";
import {
  type EdgeHostMessages,
  edgeHostProtocol,
  type GoReply,
  type HelloReply,
  maxHeld,
  type OfferReply,
  type ReportReply,
} from "./messages.ts";
import { take } from "./reports.ts";
import { freeSlots, HostState, inFlightOf, isInFlight, isLinked } from "./state.ts";
import { HostTurn } from "./turn.ts";

type Result<Reply = never> = Turn<HostState, Reply, EdgeHostMessages>;

const unchanged = (state: HostState | null): Result => ({ state, effects: [] });

/** Under the link's epoch alone. */
function ofLink(state: HostState | null, epoch: number, context: Context, change: (turn: HostTurn) => void): Result {
  if (state === null || state.epoch !== epoch || !isLinked(state)) return unchanged(state);
  const turn = new HostTurn(state, context);
  change(turn);
  return turn.turn();
}

export const edgeHost = defineActor({
  ...edgeHostProtocol,
  state: HostState,
  timers: ({ due_at }) => (due_at === null ? [] : [schedule("due", due_at, "due", {})]),
  receive: {
    offer(state, offer, context): Result<OfferReply> {
      const taken = { outcome: "taken" } as const;
      const turn = new HostTurn(state, context);
      const { command_id } = offer;
      if (turn.find(command_id) !== undefined || turn.hasEnded(command_id))
        return { ...unchanged(state), reply: taken };
      if (turn.state.commands.length >= maxHeld) return { ...unchanged(state), reply: { outcome: "full" } };
      const command = turn.add(offer);
      if (turn.state.status === "revoked") turn.end(command, { status: "cancelled", ...revoked });
      else if (turn.state.stopped.includes(command_id)) turn.end(command, { status: "not_started" });
      else if (!offer.held && !isBehindOthers(turn)) turn.start(command);
      return { ...turn.turn(), reply: taken };
    },

    go(state, { command_id }, context): Result<GoReply> {
      const turn = new HostTurn(state, context);
      const command = turn.find(command_id);
      if (command === undefined) return { ...unchanged(state), reply: { outcome: "ended" } };
      if (isInFlight(command)) return { ...unchanged(state), reply: { outcome: "started" } };
      const isStarted = turn.start(command);
      if (!isStarted) turn.change(command, { asked: false });
      return { ...turn.turn(), reply: { outcome: isStarted ? "started" : "waiting" } };
    },

    withdraw(state, { command_id }, context) {
      const turn = new HostTurn(state, context);
      const command = turn.find(command_id);
      if (command === undefined) turn.stop(command_id);
      else if (!isInFlight(command)) turn.end(command, { status: "not_started" });
      return turn.turn();
    },

    cancel(state, { command_id, reason }, context) {
      const turn = new HostTurn(state, context);
      const command = turn.find(command_id);
      if (command === undefined) turn.stop(command_id);
      else if (!isInFlight(command)) turn.end(command, { status: "not_started", reason });
      else if (command.cancelled === null) turn.cancel(command, reason);
      return turn.turn();
    },

    hello(state, hello, context): Result<HelloReply> {
      if (state?.status === "revoked")
        return { ...unchanged(state), reply: { outcome: "revoked", revoked_at: state.revoked_at ?? state.since } };
      if (state?.link?.id === hello.link_id) return { ...unchanged(state), reply: welcomeOf(state) };
      if (state?.links.includes(hello.link_id)) return { ...unchanged(state), reply: { outcome: "superseded" } };
      const missed = state === null ? null : unknownNode(state, hello);
      if (missed !== null) return { ...unchanged(state), reply: { outcome: "unknown_node", node: missed } };
      const turn = new HostTurn(state, context);
      const welcome = helloTaken(turn, hello);
      return { ...turn.turn(), reply: welcome };
    },

    reports(state, { epoch, reports }, context): Result<ReportReply> {
      if (state === null) return { state, reply: { current: false, unfinished: 0, ended: [] }, effects: [] };
      const turn = new HostTurn(state, context);
      const isCurrent = state.epoch === epoch && isLinked(state);
      const ended = reports.flatMap((report) => take(turn, report, isCurrent));
      const result = turn.turn();
      const unfinished = inFlightOf(turn.state).length;
      return { ...result, reply: { current: isCurrent, unfinished, ended } };
    },

    link_changed: (state, { epoch, healthy, accepting }, context) =>
      ofLink(state, epoch, context, (turn) => {
        if (healthy !== null) turn.become(healthy ? "connected" : "unhealthy");
        if (accepting !== null) mark(turn, "daemon", !accepting);
      }),

    link_closed: (state, { epoch, longer }, context) =>
      ofLink(state, epoch, context, (turn) => {
        turn.become("disconnected");
        turn.state.link = null;
        turn.state.longer = longer;
      }),

    revoke(state, _body, context) {
      const turn = new HostTurn(state, context);
      if (turn.state.revoked_at === null) {
        turn.become("revoked");
        turn.state.revoked_at = context.now;
        for (const command of turn.state.commands)
          turn.end(command, { status: isInFlight(command) ? "lost" : "cancelled", ...revoked });
        // Its link sees that it is no more, and nothing is sent over it.
        turn.state.epoch += 1;
        turn.state.link = null;
        turn.state.strays = [];
        turn.voidFrames();
      }
      const result = turn.turn();
      return { ...result, reply: { revoked_at: turn.state.revoked_at ?? context.now } };
    },

    accept(state, { accepting }, context) {
      const turn = new HostTurn(state, context);
      mark(turn, "held", !accepting);
      if (accepting) {
        mark(turn, "cloned", false);
        turn.state.superseded = [];
      }
      return { ...turn.turn(), reply: {} };
    },

    due(state, _body, context) {
      if (state === null) return unchanged(state);
      return new HostTurn({ ...state, due_at: null }, context).turn();
    },

    erase: () => ({ state: null, effects: [] }),
  },
});

const revoked = { error_kind: "revoked", reason: revokedReason } as const;

/** Whether commands that came before wait for a slot: the free ones are theirs. */
function isBehindOthers({ state, now }: HostTurn): boolean {
  const waiting = state.commands.filter((command) => !isInFlight(command) && command.asked).length;
  return waiting >= freeSlots(state, now);
}
