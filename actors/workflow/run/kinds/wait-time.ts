/** How long a Wait waits, as its manifest or a rendered template says it. */
import { StateFault } from "../kind.ts";

/** 365 days. */
export const maxWaitMs = 365 * 24 * 3_600_000;

const decimal = /^\d{1,12}(?:\.\d{1,9})?$/;
/** ISO 8601: a day, or a time of it, which is meant in UTC where it names no zone. */
const moment = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * When so many seconds are over.
 * @param now Unix milliseconds, as the result is
 * @throws StateFault `template_resolved_empty`, `template_value_invalid`
 */
export function afterSeconds(text: string, now: number): number {
  const value = written(text, "The seconds of the Wait are blank");
  const milliseconds = decimal.test(value) ? Math.round(Number(value) * 1000) : Number.NaN;
  if (milliseconds <= maxWaitMs) return now + milliseconds;
  throw unfit(`${shown(value)} is no number of seconds from 0 to ${maxWaitMs / 1000}`);
}

/**
 * The time that a text names; one that is over is over.
 * @throws StateFault `template_resolved_empty`, `template_value_invalid`
 */
export function momentOf(text: string, now: number): number {
  const value = written(text, "The time of the Wait is blank");
  const time = timeOf(value);
  if (time === null) throw unfit(`${shown(value)} is no time as ISO 8601 writes it`);
  if (time - now <= maxWaitMs) return time;
  throw unfit(`${shown(value)} is more than 365 days ahead`);
}

/** Unix milliseconds of a time as ISO 8601 writes it; null: it is none. */
function timeOf(text: string): number | null {
  const found = moment.exec(text);
  if (found === null) return null;
  const [whole, zone] = found;
  const hasTime = whole.length > "2031-05-02".length;
  const time = hasTime ? Date.parse(withZone(whole.replace(" ", "T").toUpperCase(), zone)) : Date.parse(whole);
  // A day that its month does not have is none: it would silently become one of the next month.
  return Number.isNaN(time) || !isDay(whole.slice(0, 10)) ? null : time;
}

/** `+02` and `+0200` as `+02:00`. */
function withZone(time: string, zone: string | undefined): string {
  if (zone === undefined) return `${time}Z`;
  if (zone.toUpperCase() === "Z") return time;
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  return `${time.slice(0, -zone.length)}${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function isDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

function written(text: string, blank: string): string {
  const value = text.trim();
  if (value === "") throw new StateFault("template_resolved_empty", blank);
  return value;
}

const unfit = (message: string): StateFault => new StateFault("template_value_invalid", message);
const shown = (value: string): string => (value.length > 100 ? `${value.slice(0, 100)}…` : value);
