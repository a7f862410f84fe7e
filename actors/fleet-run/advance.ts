/** How a run goes on: waves one after another, places given to hosts in order, rounds of retries, the end. */
import { failures } from "../edge/policy.ts";
import { canarySize, placesIn, waveSize, wavesOf } from "./state.ts";
import { markOf, marks, placesOf } from "./targets.ts";
import type { RunTurn } from "./turn.ts";

/** The part of the places that is free before more is handed over: few pieces of work are better than many. */
const worthwhile = 0.05;

/** Does all that can be done now. */
export function advance(turn: RunTurn): void {
  const { status, reason } = turn.state;
  if (status === "halting" || status === "cancelling") {
    if (!hasOpen(turn)) turn.end(status === "halting" ? "halted" : "cancelled", reason);
    return;
  }
  if (status !== "running" && status !== "paused") return;
  closeWave(turn);
  if (turn.state.status === "running") handOver(turn);
}

const hasOpen = ({ state: { in_flight, targets } }: RunTurn): boolean =>
  in_flight > 0 || targets.includes(marks.held) || targets.includes(marks.ready);

const isWaitedFor = (targets: string): boolean =>
  [marks.queued, marks.held, marks.ready, marks.open, marks.asking].some((mark) => targets.includes(mark));

/** Ends a wave whose hosts have ended, and begins the next; the last one is followed by retries, or by the end. */
function closeWave(turn: RunTurn): void {
  if (turn.state.to_open > 0 || turn.state.live > 0) return;
  if (turn.state.canary === "open") endCanary(turn);
  const { status, targets, canary } = turn.state;
  const isLeft = targets.includes(marks.unopened) || canary === "due";
  if (!isLeft && isWaitedFor(targets)) return;
  if (!isLeft && !beginRound(turn)) {
    turn.end("complete", null);
    return;
  }
  if (status === "running" && turn.state.wake_at === null) beginWave(turn);
}

/** What is left begins after a while, or once a person wants it. */
function endCanary(turn: RunTurn): void {
  turn.change({ canary: "over" });
  const { targets, policy } = turn.state;
  if (!targets.includes(marks.unopened) && !isWaitedFor(targets)) return;
  if (policy.canary_soak_secs > 0) turn.wakeAt(turn.now + policy.canary_soak_secs * 1000);
  if (policy.pause_after_canary) turn.pause("canary_done");
}

/** @returns false: nothing is to be run again */
function beginRound(turn: RunTurn): boolean {
  const { policy, round, targets, waves } = turn.state;
  if (round >= policy.retries) return false;
  const wanted = new Set(policy.retry_on.map(markOf));
  const places = [...targets].flatMap((mark, place) => (wanted.has(mark) ? [place] : []));
  if (places.length === 0) return false;
  turn.mark(places, marks.unopened);
  turn.change({ round: round + 1, waves: waves + Math.ceil(places.length / waveSize(turn.state)) });
  if (policy.retry_delay_secs > 0) turn.wakeAt(turn.now + policy.retry_delay_secs * 1000);
  return true;
}

function beginWave(turn: RunTurn): void {
  const { state } = turn;
  const isDue = state.canary === "due";
  const size = isDue ? canarySize(state) : waveSize(state);
  // A canary of hosts that are waited for is handed over with them.
  const isOfQueue = isDue && state.eligible === 0;
  const to_open = isOfQueue ? 0 : placesOf(state.targets, marks.unopened, size).length;
  turn.change({
    wave: state.wave + 1,
    to_open,
    live: isOfQueue ? size : 0,
    ...(isDue ? { canary: "open" as const } : {}),
  });
  turn.tellStatus();
}

/** Gives free places to those that wait for them. */
function handOver(turn: RunTurn): void {
  const asking = placesOf(turn.state.targets, marks.asking, Number.POSITIVE_INFINITY);
  turn.mark(asking, marks.open);
  turn.go(asking);
  if (turn.state.full.length > 0 && turn.state.again_at === null) offerAgain(turn);
  letReadyGo(turn);
  openWave(turn);
  offerQueued(turn);
}

function offerAgain(turn: RunTurn): void {
  const { full, targets, eligible, round } = turn.state;
  const isHeld = (place: number): boolean => round === 0 && place >= eligible;
  const open = full.filter((place) => [marks.open, marks.held].some((mark) => targets[place] === mark));
  turn.change({ full: [] });
  turn.offer(
    open.filter((place) => !isHeld(place)),
    false,
  );
  turn.offer(open.filter(isHeld), true);
}

/** Hosts that were waited for and have come: those of the canary first of all, the others behind it. */
function letReadyGo(turn: RunTurn): void {
  const { state } = turn;
  const isOpen = state.canary === "none" || state.canary === "over";
  if (state.canary === "due" || (isOpen && state.wake_at !== null)) return;
  if (!isOpen && state.eligible > 0) return;
  const free = placesIn(state) - state.in_flight;
  const most = isOpen ? Number.POSITIVE_INFINITY : canarySize(state);
  const ready = placesOf(state.targets, marks.ready, Math.max(0, free)).filter((place) => place < most);
  if (ready.length === 0) return;
  turn.mark(ready, marks.open);
  turn.change({ in_flight: state.in_flight + ready.length });
  turn.go(ready);
}

function openWave(turn: RunTurn): void {
  const { state } = turn;
  const places = placesIn(state);
  const count = Math.min(state.to_open, places - state.in_flight);
  if (count <= 0 || (count < state.to_open && count < Math.max(1, Math.ceil(places * worthwhile)))) return;
  const opened = placesOf(state.targets, marks.unopened, count);
  turn.mark(opened, marks.open);
  turn.change({
    to_open: state.to_open - opened.length,
    live: state.live + opened.length,
    in_flight: state.in_flight + opened.length,
  });
  turn.offer(opened, false);
}

/** Hosts that are waited for get their commands at once, portion by portion, and keep them until the run wants them. */
function offerQueued(turn: RunTurn): void {
  const { targets, handing } = turn.state;
  if (handing.some(({ held }) => held)) return;
  const some = placesOf(targets, marks.queued, queuedAtOnce);
  turn.mark(some, marks.held);
  turn.offer(some, true);
}

const queuedAtOnce = 500;

/** What a run begins with, once its target is known. */
export const beginningOf = (run: Parameters<typeof wavesOf>[0]) => ({
  waves: Math.max(wavesOf(run).length, run.eligible === 0 && canarySize(run) > 0 ? 1 : 0),
  canary: canarySize(run) > 0 ? ("due" as const) : ("none" as const),
});

export const failedMarks: ReadonlySet<string> = new Set(failures.map(markOf));
