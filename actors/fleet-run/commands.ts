/** What hosts and pieces of work tell a run of its commands. */

import { isFailed } from "../edge/policy.ts";
import type { CommandEnded, CommandReady } from "../edge-host/command.ts";
import type { Outcome } from "../kernel/activity.ts";
import type { go, offer, stop } from "./activities.ts";
import { failedMarks } from "./advance.ts";
import { isCanary, isInWaves, resolvedOf } from "./state.ts";
import { isFailure, isInFlight, isUnderWay, markOf, marks } from "./targets.ts";
import type { RunTurn } from "./turn.ts";

/** Commands have been handed over. */
export function offered(turn: RunTurn, outcome: Outcome<typeof offer>): void {
  const work = turn.takeHanding(outcome.id);
  if (work === null) return;
  // Nothing tells how many of them the hosts have: all are handed over again, and known ones stay as they are.
  const full = outcome.ok ? outcome.value.full : work.indices;
  if (turn.state.stopping !== null) {
    turn.stop(stillUnderWay(turn, work.indices));
    return;
  }
  const left = stillUnderWay(turn, full);
  if (left.length === 0) return;
  turn.change({ full: [...turn.state.full, ...left] });
  turn.tryAgainLater();
}

/** Commands were let go. */
export function gone(turn: RunTurn, outcome: Outcome<typeof go>): void {
  const work = turn.takeHanding(outcome.id);
  if (work === null) return;
  if (turn.state.stopping !== null) {
    turn.stop(stillUnderWay(turn, work.indices));
    return;
  }
  const waiting = outcome.ok ? outcome.value.waiting : work.indices;
  for (const place of waiting) {
    if (turn.state.targets[place] !== marks.open) continue;
    const isHeld = turn.state.round === 0 && place >= turn.state.eligible;
    // One that is waited for gives its place to another.
    if (isHeld) turn.mark([place], outcome.ok ? marks.held : marks.ready);
    else if (!outcome.ok) turn.mark([place], marks.asking);
  }
  turn.countInFlight();
}

/** Commands were taken back; their hosts tell of each, but of those that they never had. */
export function stopped(turn: RunTurn, outcome: Outcome<typeof stop>): void {
  const work = turn.state.stops.find(({ id }) => id === outcome.id);
  if (work === undefined) return;
  turn.change({ stops: turn.state.stops.filter((one) => one !== work) });
  if (!outcome.ok) {
    turn.change({ unstopped: [...turn.state.unstopped, ...work.indices] });
    turn.tryAgainLater();
    return;
  }
  for (const place of stillUnderWay(turn, outcome.value.unknown)) count(turn, place, markOf("not_started"));
}

/** A host could start a command, and asks whether it may. */
export function ready(turn: RunTurn, { idx, attempt }: CommandReady): void {
  if (attempt !== turn.state.round + 1) return;
  const mark = turn.state.targets[idx];
  if (mark === marks.held) turn.mark([idx], marks.ready);
  if (mark === marks.open) turn.mark([idx], marks.asking);
}

/** A command has ended. The first end of each counts. */
export function ended(turn: RunTurn, { idx, attempt, status }: CommandEnded): void {
  if (attempt !== turn.state.round + 1 || !isUnderWay(turn.state.targets[idx])) return;
  const ofCanary = isCanary(turn.state, idx);
  count(turn, idx, markOf(status));
  if (status !== "not_started") turn.tellEvent({ type: "result", idx, attempt, status });
  const isAtWork = turn.state.status === "running" || turn.state.status === "paused";
  if (!isAtWork || !isFailure(status)) return;
  const failed = failures(turn);
  const { policy } = turn.state;
  if (ofCanary) turn.halt("canary_failed", "A host of the canary failed");
  else if (isFailed(policy.failure_policy, failed, resolvedOf(turn.state)))
    turn.halt("failure_threshold", failed === 1 ? "A host failed" : `${failed} hosts failed`);
}

function count(turn: RunTurn, place: number, mark: string): void {
  const { state } = turn;
  const wasInFlight = isInFlight(state.targets[place]);
  turn.mark([place], mark);
  turn.change({
    in_flight: state.in_flight - (wasInFlight ? 1 : 0),
    live: isInWaves(state, place) ? Math.max(0, state.live - 1) : state.live,
  });
}

function failures({ state: { targets } }: RunTurn): number {
  let failed = 0;
  for (const mark of targets) if (failedMarks.has(mark)) failed += 1;
  return failed;
}

const stillUnderWay = ({ state: { targets } }: RunTurn, places: readonly number[]): number[] =>
  places.filter((place) => isUnderWay(targets[place]));
