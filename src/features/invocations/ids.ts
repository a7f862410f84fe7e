/** Records of tool calls by when they were begun: their ids say it. */

/** Longest that a call runs. */
export const longestCallMs = 2 * 3_600_000;

/** The least UUIDv7 of a moment: ids sort by when they were made. */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`;
}
