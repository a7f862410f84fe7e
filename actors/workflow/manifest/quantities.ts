/** Durations of workflows, and what several fields share. */
import type { Fields } from "../../manifest/fields.ts";
import { readDuration } from "../../manifest/quantities.ts";

export const second = 1000;
export const maxTimeoutSeconds = 30 * 24 * 3600;

/** Milliseconds of what agents' manifests call a duration; its parts may be set apart: `1h 30m`. Null: unreadable. */
export function readTime(value: unknown): number | null {
  if (typeof value !== "string") return readDuration(value);
  return value.length > 64 ? null : readDuration(value.trim().replace(/(?<=[hm]) +(?=\d)/g, ""));
}

/** Milliseconds, 1 s to 30 d; null when absent, and after an issue. */
export function readTimeout(fields: Fields, key: string): number | null {
  return fields.measure(key, readTime, "duration", {
    min: second,
    max: maxTimeoutSeconds * second,
    said: "1 s to 30 days",
  });
}

/** Issues for a list that is absent or has no elements. */
export function requireElements(fields: Fields, key: string, message: string): void {
  const value = fields.raw(key);
  if (value === null) fields.issue(key, "is required");
  else if (Array.isArray(value) && value.length === 0) fields.issue(key, message);
}

export const share = { min: 0, max: 1 };

/** Of a judge or an agent: above 0. */
export function readWeight(fields: Fields): number {
  const weight = fields.number("weight", { min: 0, max: 1_000_000 });
  if (weight === 0) fields.issue("weight", "must be above 0");
  return weight === null || weight === 0 ? 1 : weight;
}
