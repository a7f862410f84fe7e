/**
 * A workflow's schedule: which of its times get a run.
 *
 * Its row says when it is due; this actor keeps what became of each time. A time that has come is offered once: it is
 * started, waits for the run before to end, or is skipped. Times that were missed (nothing ran, or the tenant began
 * nothing) are offered as `catch_up` says. A start is committed with the id of its run before anything is done, so that
 * it is neither lost nor done twice.
 */
import { mayHaveHappened } from "../../kernel/activity.ts";
import { defineActor } from "../../kernel/actor.ts";
import { schedule } from "../../kernel/effect.ts";
import type { Turn } from "../../kernel/turn.ts";
import { type BackfillReply, type ScheduleMessages, scheduleProtocol, type Terms } from "./messages.ts";
import { ScheduleState } from "./state.ts";
import { latestTimes, startOf } from "./times.ts";
import { ScheduleTurn, startId, timerAt } from "./turn.ts";

/** What is later than this was missed. */
export const graceMs = 10_000;
/** Times of one decision. */
const maxTimes = 1_000;
const keptBackfills = 20;

type State = ScheduleState | null;

export const workflowSchedule = defineActor({
  ...scheduleProtocol,
  state: ScheduleState,
  timers: ({ wake }) => (wake === null ? [] : [schedule(timerAt(wake), wake, "due", { at: wake })]),
  receive: {
    settle(state, { revision, terms, paused, since }, context) {
      if (state !== null && revision <= state.revision) return unchanged(state, settled);
      if (terms === null)
        return state === null ? unchanged(null, settled) : new ScheduleTurn(state, context).end(settled);
      if (state === null) return new ScheduleTurn({ ...fresh(terms, since), revision, paused }, context).turn(settled);
      const turn = new ScheduleTurn(state, context);
      // Times from before a pause or a change are none of what it is now.
      const isOther = !sameTimes(terms, state.terms) || state.paused !== paused;
      turn.change({ revision, terms, paused });
      if (isOther) turn.change({ decided: Math.max(state.decided, since) });
      if (paused) turn.drop(({ backfill }) => !backfill);
      return turn.turn(settled);
    },

    due(state, { at }, context) {
      if (state === null || state.wake !== at) return unchanged(state);
      const turn = new ScheduleTurn({ ...state, wake: null }, context);
      if (turn.now >= at) decide(turn);
      return turn.turn();
    },

    release(state, _, context) {
      if (state === null || !state.held) return unchanged(state, released);
      const turn = new ScheduleTurn(state, context);
      decide(turn);
      return turn.turn(released);
    },

    start_ended(state, outcome, context) {
      const { starting } = state ?? {};
      if (state === null || !starting || outcome.id !== startId(starting)) return unchanged(state);
      const turn = new ScheduleTurn(state, context);
      if (!outcome.ok && mayHaveHappened(outcome) && turn.startAgain()) return turn.turn();
      turn.change({ starting: null, held: false });
      const end = outcome.ok ? outcome.value : { result: "refused" as const, code: outcome.code, busy: false };
      // Where its row came back meanwhile, a later revision has been heard of.
      if (end.result === "gone" && starting.revision === state.revision) return turn.end();
      if (end.result === "started") began(turn, starting, end.at);
      else if (end.result === "held") hold(turn, starting);
      else {
        turn.skip(1);
        // What waits behind a start that was refused to the last would fare no better.
        if (end.result === "refused" && end.busy) turn.drop();
      }
      turn.startNext();
      return turn.turn();
    },

    run_ended(state, { execution_id, continued_as }, context) {
      if (state === null) return unchanged(state);
      const { starting, former } = state;
      const turn = new ScheduleTurn(state, context);
      if (starting !== null && livingOf(starting) === execution_id) {
        turn.change({ starting: continued_as === null ? { ...starting, ended: true } : { ...starting, continued_as } });
        return turn.turn();
      }
      if (former?.execution_id !== execution_id) return unchanged(state);
      if (continued_as === null) turn.change({ former: null });
      else if (former.cancelled) turn.cancelFormer(continued_as);
      else turn.change({ former: { ...former, execution_id: continued_as } });
      turn.startNext();
      return turn.turn();
    },

    started_by_hand(state, { execution_id, at }) {
      if (state === null || (state.last !== null && state.last.at > at)) return unchanged(state, noted);
      return unchanged({ ...state, last: { execution_id, at } }, noted);
    },

    backfill(state, { id, from, to, overlap }, context) {
      if (state === null) return unchanged<BackfillReply>(null, { outcome: "unknown" });
      const known = state.backfills.find((one) => one.id === id);
      if (known !== undefined) return unchanged(state, backfilled(known));
      const times = latestTimes(state.terms, from - 1, to, maxTimes + 1);
      if (times.length > maxTimes) return unchanged<BackfillReply>(state, { outcome: "too_many" });
      const turn = new ScheduleTurn(state, context);
      const started = turn.offer(times, overlap ?? state.terms.overlap, true);
      const done = { id, started, skipped: times.length - started };
      turn.change({ backfills: [...state.backfills, done].slice(-keptBackfills) });
      return turn.turn(backfilled(done));
    },
  },
});

type Starting = NonNullable<ScheduleState["starting"]>;

function fresh(terms: Terms, since: number): Omit<ScheduleState, "revision" | "paused"> {
  return {
    terms,
    held: false,
    decided: since,
    wake: null,
    waiting: [],
    starting: null,
    former: null,
    last: null,
    skipped: 0,
    backfills: [],
  };
}

/** Offers the times that have come since the last decision. */
function decide(turn: ScheduleTurn): void {
  const { now, state } = turn;
  const { terms, decided } = state;
  const dueAt = (time: number) => startOf(turn.context.key, terms.jitter_ms, terms, time);
  turn.change({ held: false });
  // Those that are still in time are never so old.
  const window = Math.max(terms.catch_up_window_ms, graceMs + terms.jitter_ms);
  const come = latestTimes(terms, Math.max(decided, now - window - 1), now, maxTimes + 1);
  const due = come.filter((time) => dueAt(time) <= now);
  const missed = due.filter((time) => now - dueAt(time) > graceMs);
  const caught = caughtUp(terms, missed, now);
  const early = come.find((time) => dueAt(time) > now);
  turn.change({ decided: Math.max(decided, early === undefined ? now : early - 1) });
  turn.skip(missed.length - caught.length);
  turn.offer([...caught, ...due.slice(missed.length)], terms.overlap, false);
}

function caughtUp({ catch_up, catch_up_window_ms }: Terms, missed: readonly number[], now: number): readonly number[] {
  const within = missed.filter((time) => now - time <= catch_up_window_ms);
  if (catch_up === "none") return [];
  return within.slice(catch_up === "last" ? -1 : -maxTimes);
}

function began(turn: ScheduleTurn, starting: Starting, at: number): void {
  const { last } = turn.state;
  if (last === null || last.at <= at) turn.change({ last: { execution_id: starting.execution_id, at } });
  // Where runs may overlap, the one that began last is the one before.
  if (!starting.ended) turn.change({ former: { execution_id: livingOf(starting), cancelled: false } });
}

const livingOf = ({ execution_id, continued_as }: Starting): string => continued_as ?? execution_id;

/** The times from this one on are judged anew once the tenant may begin work; backfills are not. */
function hold(turn: ScheduleTurn, { time, backfill, skipped }: Starting): void {
  const times = turn.state.waiting.filter((one) => !one.backfill).map((one) => one.time);
  const dropped = turn.state.waiting.length - times.length + (backfill ? 1 : 0);
  const first = Math.min(...times, ...(backfill ? [] : [time]));
  turn.change({ waiting: [], held: true, skipped: backfill ? turn.state.skipped : skipped });
  turn.skip(dropped);
  if (Number.isFinite(first)) turn.change({ decided: Math.min(turn.state.decided, first - 1) });
}

const sameTimes = (one: Terms, other: Terms): boolean =>
  one.timezone === other.timezone &&
  one.anchor === other.anchor &&
  JSON.stringify(Object.entries(one.when)) === JSON.stringify(Object.entries(other.when));

const settled = { settled: true } as const;
const released = { released: true } as const;
const noted = { noted: true } as const;
const backfilled = ({ started, skipped }: { started: number; skipped: number }): BackfillReply => ({
  outcome: "done",
  started,
  skipped,
});

function unchanged<Reply = never>(state: State, reply?: Reply): Turn<ScheduleState, Reply, ScheduleMessages> {
  return { state, effects: [], ...(reply === undefined ? {} : { reply }) };
}
