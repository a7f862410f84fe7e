/** The times of a schedule. All are Unix milliseconds. */
import { CronExpressionParser } from "cron-parser";
import type { Schedule } from "../definition.ts";
import { latestWallBy, momentOf, wallAt } from "./wall-clock.ts";

/** What the times of a schedule follow from. */
export interface Timing extends Pick<Schedule, "when" | "timezone"> {
  /** Intervals are counted from here, in both directions. */
  readonly anchor: number;
}

/** The first time after a moment; null: there is none. */
export const nextTime = (timing: Timing, after: number): number | null => nextTimes(timing, after, 1)[0] ?? null;

/** The next times after a moment, at most so many. */
export function nextTimes(timing: Timing, after: number, most: number): readonly number[] {
  const { when, timezone, anchor } = timing;
  if ("every_ms" in when) {
    const first = anchor + (Math.floor((after - anchor) / when.every_ms) + 1) * when.every_ms;
    return Array.from({ length: most }, (_, index) => first + index * when.every_ms);
  }
  const step = stepsFrom(when.cron, wallAt(timezone, after));
  const times: number[] = [];
  while (times.length < most) {
    const wall = step("next");
    if (wall === null) break;
    const at = momentOf(timezone, wall);
    // While the clock shows an hour for the second time, the times of that hour have been; those of one gap are one time.
    if (at > (times.at(-1) ?? after)) times.push(at);
  }
  return times;
}

/** The times after a moment and up to another, the latest of them where there are more than `most`; in their order. */
export function latestTimes(timing: Timing, after: number, until: number, most: number): readonly number[] {
  const { when, timezone, anchor } = timing;
  const found: number[] = [];
  if ("every_ms" in when) {
    let at = anchor + Math.floor((until - anchor) / when.every_ms) * when.every_ms;
    for (; at > after && found.length < most; at -= when.every_ms) found.push(at);
    return found.reverse();
  }
  // Cron knows whole seconds, and looks before its moment.
  const step = stepsFrom(when.cron, (Math.floor(latestWallBy(timezone, until) / 1000) + 1) * 1000);
  while (found.length < most) {
    const wall = step("prev");
    if (wall === null) break;
    const at = momentOf(timezone, wall);
    if (at <= after) break;
    // Local times of one gap are one time: its end.
    if (at <= until && at !== found.at(-1)) found.push(at);
  }
  return found.reverse();
}

/**
 * Steps from local time to local time: these have no changes of the clock, as UTC has none. Null: the expression comes true
 * no more.
 */
function stepsFrom(cron: string, wall: number): (which: "next" | "prev") => number | null {
  let steps: ReturnType<typeof CronExpressionParser.parse> | null = null;
  return (which) => {
    try {
      steps ??= CronExpressionParser.parse(cron, { tz: "UTC", currentDate: new Date(wall) });
      return steps[which]().getTime();
    } catch {
      return null;
    }
  };
}

/**
 * When the start of a time is due: up to `jitter_ms` later, always as much for the same schedule and time, and never behind
 * the time that follows.
 */
export function startOf(scheduleId: string, jitterMs: number, timing: Timing, time: number): number {
  if (jitterMs === 0) return time;
  const following = nextTime(timing, time);
  const room = following === null ? jitterMs : Math.min(jitterMs, following - time);
  return time + Math.floor(share(`${scheduleId} ${time}`) * room);
}

/** Between 0 and 1, always the same for a text (FNV-1a, its bits mixed once more). */
function share(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
