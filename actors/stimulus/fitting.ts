/** Whether a stimulus is one that a source starts something for, and what it is matched by. */
import { Effort } from "../template/effort.ts";
import { type Matter, matcherOf, matchSteps } from "../template/matching.ts";
import { payloadOf } from "./content.ts";
import type { Stimulus } from "./stimulus.ts";

/** What a stimulus that was taken in is matched by: its headers are those that were forwarded. */
export function matterOf({
  content,
  contentEncoding,
  contentType,
  headers,
}: Pick<Stimulus, "content" | "contentEncoding" | "contentType" | "headers">): Matter {
  return { payload: contentEncoding === "utf-8" ? payloadOf(content, contentType) : null, headers };
}

/** What a source lets through. */
export interface SourceFilter {
  /** Empty: all. */
  readonly events: readonly string[];
  readonly match: string | null;
}

export type Ignored = "event" | "match" | "match_failed";

/**
 * Why a source passes a message over; null: it does not.
 * @param names of the event, the most exact one first; none where the message names none: then it is no event of `events`
 */
export function ignoredBy(
  { events, match }: SourceFilter,
  names: readonly string[],
  matter: () => Matter,
): Ignored | null {
  if (events.length > 0 && !names.some((name) => events.includes(name))) return "event";
  if (match === null) return null;
  let isFault = false;
  const matches = matcherOf(match, () => {
    isFault = true;
  });
  if (matches(matter(), new Effort(matchSteps))) return null;
  return isFault ? "match_failed" : "match";
}
