/** Which figures are told to which meters of the payment provider, and when that is given up. */
import { isObject } from "../kernel/json.ts";
import { type Figure, figures } from "./figures.ts";
import { hourMs } from "./spans.ts";

/** Figure → name of the event that its meter counts. */
export type Meters = Partial<Readonly<Record<Figure, string>>>;

const isFigure = (name: string): name is Figure => (figures as readonly string[]).includes(name);
const longestName = 100;

/** @returns the meters, or what is wrong with the text, completing the sentence "NAME …" */
export function readMeters(text: string): Meters | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return "must be JSON";
  }
  if (!isObject(parsed)) return "must be a JSON object";
  const names = new Set<string>();
  for (const [figure, name] of Object.entries(parsed)) {
    if (!isFigure(figure))
      return `must have figures as its members (${figures.join(", ")}); not ${figure.slice(0, 50)}`;
    const fits = typeof name === "string" && name.length > 0 && name.length <= longestName && !/\p{C}/u.test(name);
    if (!fits) return `must give ${figure} the name of a meter's event, 1–${longestName} characters`;
    // Two figures under one name would be added up.
    if (names.has(name)) return `must give each figure a meter of its own; ${name} is there twice`;
    names.add(name);
  }
  return parsed as Meters;
}

/** Digits that the provider takes of a value. */
const mostDigits = 15;
const mostDecimals = 12;

/** A sum as the provider takes it: a decimal of at most 15 digits. Null: there is nothing to tell. */
export function meterValue(value: number): string | null {
  if (!Number.isFinite(value) || value <= 0) return null;
  const wholeDigits = value < 1 ? 0 : Math.floor(Math.log10(value)) + 1;
  const decimals = Math.min(mostDecimals, Math.max(0, mostDigits - wholeDigits - 1));
  const text = value.toFixed(decimals);
  const shown = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return /[1-9]/.test(shown) ? shown : null;
}

/** Under which the provider tells a repeat; of the hour its date and number, of UTC. */
export const pushId = (tenant: string, figure: string, hour: Date): string =>
  `${tenant}:${figure}:${hour.toISOString().slice(0, 13)}`;

/** Less than the day for which the provider tells repeats, with room for an attempt under way. */
export const retriedForMs = 23 * hourMs;

const firstPauseMs = 60_000;
const longestPauseMs = hourMs;

/** How long to wait after so many attempts, ms. */
export const pauseAfter = (attempts: number): number =>
  Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(16, Math.max(0, attempts - 1)));
