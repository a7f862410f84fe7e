/** Billing periods, in Unix seconds. */
import type { Item, Price } from "../../shapes.ts";

/** The end of the period that begins there. Months end on the day of the anchor, or on their last day. */
export function periodEnd(start: number, price: Price, anchor = start): number {
  const { interval = "month", interval_count: count = 1 } = price.recurring ?? {};
  const seconds = { day: 86_400, week: 604_800 }[interval as string];
  if (seconds !== undefined) return start + seconds * count;
  const from = new Date(start * 1000);
  const months = interval === "year" ? 12 * count : count;
  const day = new Date(anchor * 1000).getUTCDate();
  const year = from.getUTCFullYear();
  const month = from.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const time = [from.getUTCHours(), from.getUTCMinutes(), from.getUTCSeconds()] as const;
  return Date.UTC(year, month, Math.min(day, lastDay), ...time) / 1000;
}

/** When the next of its items comes to the end of its period. */
export const nextEnd = (items: readonly Item[]): number => Math.min(...items.map((item) => item.current_period_end));

export const isSameInterval = (one: Price, other: Price): boolean =>
  one.recurring?.interval === other.recurring?.interval &&
  one.recurring?.interval_count === other.recurring?.interval_count;
