/** Points in time as queries name them. */
import { invalid } from "../../actors/kernel/problem.ts";

/**
 * @param path of the member, for the refusal
 * @throws Problem 422 for what is no time of the years 1 to 9999: the database counts none before as ISO 8601 does
 */
export function readTime(path: string, text: string): Date {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  if (!Number.isNaN(year) && year >= 1 && year <= 9999) return time;
  throw invalid("validation_failed", "The request is invalid", [
    { path, message: "must be a timestamp", code: "invalid" },
  ]);
}
