/** The moments at which a schedule starts its agent. */
import { CronExpressionParser } from "cron-parser";
import type { ScheduleSpec } from "./manifest/spec.ts";

/** A start that comes later than this after its moment does not come at all, ms. */
export const longestDelay = 5 * 60_000;

/**
 * The latest moment up to and including `now`, or null when there is none.
 * @param anchor what intervals are counted from: the deployment of the version; Unix ms like everything here
 */
export function latestFire(schedule: ScheduleSpec, anchor: number, now: number): number | null {
  if (schedule.type === "interval") {
    const rounds = Math.floor((now - anchor) / schedule.every_ms);
    return rounds < 1 ? null : anchor + rounds * schedule.every_ms;
  }
  // `prev` looks before its moment; cron knows whole seconds only.
  return reckon(schedule, now + 1, (expression) => expression.prev());
}

/** The first moment after `now`, or null when there is none. */
export function nextFire(schedule: ScheduleSpec, anchor: number, now: number): number | null {
  if (schedule.type === "interval") {
    const rounds = Math.max(1, Math.floor((now - anchor) / schedule.every_ms) + 1);
    return anchor + rounds * schedule.every_ms;
  }
  return reckon(schedule, now, (expression) => expression.next());
}

type Expression = ReturnType<typeof CronExpressionParser.parse>;

function reckon(
  { cron, timezone }: Extract<ScheduleSpec, { type: "cron" }>,
  at: number,
  look: (expression: Expression) => { getTime(): number },
): number | null {
  try {
    return look(CronExpressionParser.parse(cron, { tz: timezone, currentDate: new Date(at) })).getTime();
  } catch {
    return null;
  }
}

/**
 * The moment a call to start stands for.
 * @param due when the call was due
 * @param since before this the schedule was not in force
 * @returns null when the moment is too long past, or was before its time
 */
export function fireFor(
  schedule: ScheduleSpec,
  { anchor, due, since, now }: { anchor: number; due: number; since: number; now: number },
): number | null {
  const fire = now - due <= longestDelay ? due : latestFire(schedule, anchor, now);
  if (fire === null || fire <= since || now - fire > longestDelay) return null;
  return fire;
}
