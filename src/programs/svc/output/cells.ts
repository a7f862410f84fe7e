/** Values of records as short texts for people. */
import { inline } from "./inert.ts";

/** What a value is, so that it is shown well: a time relative to now, a size with its unit. */
export type CellKind = "text" | "status" | "time" | "duration" | "bytes";

const none = "–";

/**
 * @param relativeTo now in ms: times are told relative to it; null: as they are
 * @returns one line, inert
 */
export function cell(value: unknown, kind: CellKind, relativeTo: number | null): string {
  if (value === null || value === undefined || value === "") return none;
  if (kind === "time") return typeof value === "string" ? timeCell(value, relativeTo) : none;
  if (kind === "duration" && typeof value === "number") return duration(value);
  if (kind === "bytes" && typeof value === "number") return bytes(value);
  if (Array.isArray(value)) return value.length === 0 ? none : inline(value.map(textOf).join(", "));
  if (typeof value === "boolean") return value ? "yes" : "no";
  return inline(textOf(value));
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function timeCell(text: string, relativeTo: number | null): string {
  const at = Date.parse(text);
  return relativeTo === null || Number.isNaN(at) ? inline(text) : ago(at - relativeTo);
}

/** @param ms from now; negative: past */
export function ago(ms: number): string {
  const distance = Math.abs(ms);
  if (distance < 1_000) return "now";
  const text = span(distance);
  return ms < 0 ? `${text} ago` : `in ${text}`;
}

const steps: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
];

function span(ms: number): string {
  const [size, unit] = steps.find(([least]) => ms >= least) ?? [1_000, "s"];
  return `${Math.floor(ms / size)}${unit}`;
}

/** @param ms at least 0 */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1_000);
  if (minutes < 60) return `${minutes} m ${seconds} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** @param size at least 0 */
export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(units.length, Math.floor(Math.log(size) / Math.log(1_024)));
  return `${(size / 1_024 ** step).toFixed(1)} ${units[step - 1]}`;
}
