/** How each of a run's hosts stands: one character a host, by its place. */

import { type Failure, failures } from "../edge/policy.ts";
import type { CommandEnd } from "../edge-host/command.ts";
import type { Summary } from "./words.ts";

/**
 * `.` waits for its turn. Of hosts that are waited for: `q` not handed over yet, `h` held by the host, `y` ready there.
 * `o` is under way; `w` is so too, but its host asks whether it may start.
 */
export const marks = { unopened: ".", queued: "q", held: "h", ready: "y", open: "o", asking: "w" } as const;

const endMarks: Readonly<Record<CommandEnd, string>> = {
  ok: "k",
  err: "e",
  timed_out: "t",
  cancelled: "c",
  refused: "r",
  lost: "l",
  expired: "x",
  not_started: "n",
};
const endsByMark = new Map(Object.entries(endMarks).map(([end, mark]) => [mark, end as CommandEnd]));

export const markOf = (end: CommandEnd): string => endMarks[end];
/** How the host's latest command ended; null: it has not. */
export const endOf = (mark: string): CommandEnd | null => endsByMark.get(mark) ?? null;

/** Whether a host has been asked and has not ended. */
export const isUnderWay = (mark: string | undefined): boolean =>
  mark === marks.open || mark === marks.asking || mark === marks.held || mark === marks.ready;

/** Whether a command counts among those that are in flight. */
export const isInFlight = (mark: string | undefined): boolean => mark === marks.open || mark === marks.asking;

export const isFailure = (end: CommandEnd): end is Failure => failures.some((word) => word === end);

export const initialTargets = (eligible: number, queued: number): string =>
  marks.unopened.repeat(eligible) + marks.queued.repeat(queued);

/** With another mark at these places, which ascend. */
export function remarked(targets: string, places: readonly number[], mark: string): string {
  if (places.length === 0) return targets;
  const parts: string[] = [];
  let from = 0;
  for (const place of places) {
    parts.push(targets.slice(from, place), mark);
    from = place + 1;
  }
  parts.push(targets.slice(from));
  return parts.join("");
}

/** The first places that have the mark, in order. @param from the first place that is looked at */
export function placesOf(targets: string, mark: string, most: number, from = 0): number[] {
  const places: number[] = [];
  for (let at = targets.indexOf(mark, from); at >= 0 && places.length < most; at = targets.indexOf(mark, at + 1))
    places.push(at);
  return places;
}

/** Places that are under way. */
export function underWay(targets: string): number[] {
  const places: number[] = [];
  for (let at = 0; at < targets.length; at++) if (isUnderWay(targets[at])) places.push(at);
  return places;
}

/** The first nine add up to the number of hosts. */
export function summaryOf(targets: string): Summary {
  const counts = new Map<string, number>();
  for (const mark of targets) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const of = (...of: readonly string[]): number => of.reduce((sum, mark) => sum + (counts.get(mark) ?? 0), 0);
  const ended = (end: CommandEnd): number => of(endMarks[end]);
  return {
    ok: ended("ok"),
    err: ended("err"),
    timed_out: ended("timed_out"),
    cancelled: ended("cancelled"),
    refused: ended("refused"),
    lost: ended("lost"),
    expired: ended("expired"),
    not_started: ended("not_started") + of(marks.unopened, marks.queued, marks.held, marks.ready),
    in_progress: of(marks.open, marks.asking),
    failed: of(...failures.map((word) => endMarks[word])),
  };
}
