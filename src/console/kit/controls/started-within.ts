/** When records were started, as the address of a list has it and as a list is asked for. */
import type { Filters } from "./filters.tsx";

export const spans = [
  { value: "1h", label: "last hour" },
  { value: "24h", label: "last 24 hours" },
  { value: "7d", label: "last 7 days" },
  { value: "30d", label: "last 30 days" },
];
const spanMs: Readonly<Record<string, number>> = { "1h": 3.6e6, "24h": 8.64e7, "7d": 6.048e8, "30d": 2.592e9 };

/** What the address has of it. */
export const startedNames = ["since", "after", "before"] as const;

/** The address of a list of what was started between two moments, Unix seconds. */
export const startedWithin = (from: number, to: number) => ({
  after: new Date(from * 1_000).toISOString(),
  before: new Date(to * 1_000).toISOString(),
});

/** What a list is asked for. */
export function startedQuery({ since = "", after, before }: Filters) {
  const ago = spanMs[since];
  // By the minute: the same filter is the same list.
  const from =
    after ?? (ago === undefined ? undefined : new Date(Math.floor((Date.now() - ago) / 60_000) * 60_000).toISOString());
  return {
    ...(from === undefined ? {} : { started_after: from }),
    ...(before === undefined ? {} : { started_before: before }),
  };
}
