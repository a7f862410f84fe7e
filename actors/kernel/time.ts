/** Points in time: how records and events write them, and how queries name them. */
import { invalidField } from "./problem.ts";

/** A time in Unix milliseconds as ISO 8601 in UTC with milliseconds. */
export const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** A time without a zone: it is meant in UTC, wherever the node stands. */
const zoneless = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/i;

/**
 * The time that a query's member names.
 *
 * @param path of the member, for the finding
 * @throws Problem 422 unless it lies in the years 1 to 9999: PostgreSQL counts the years before as ISO 8601 does not
 */
export function readTime(path: string, text: string): Date {
  const time = new Date(zoneless.test(text) ? `${text}Z` : text);
  const year = time.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9999) throw invalidField(path, "must be a timestamp");
  return time;
}
