/** The time that a report is about, as it was asked for. */
import { invalidField } from "../../../../actors/kernel/problem.ts";
import { readTime } from "../../../../actors/kernel/time.ts";
import { dayMs, type Span } from "../../../../actors/usage/spans.ts";

const usualDays = 30;

/**
 * From a moment up to another, which is not part of it. A date is its midnight of UTC.
 * @param now Unix ms: where it ends unless it says so
 * @throws Problem 422 for what is no time, and unless it begins before it ends
 */
export function periodOf(asked: { readonly from?: string; readonly to?: string }, now: number): Span {
  const to = asked.to === undefined ? now : readTime("to", asked.to).getTime();
  const from = asked.from === undefined ? to - usualDays * dayMs : readTime("from", asked.from).getTime();
  if (from >= to) throw invalidField("from", "must be before to");
  return { from, to };
}
