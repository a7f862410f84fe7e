/** Which messages a source passes over (docs/reference/stimuli.md): they start nothing, and nothing of them is stored. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { type Ignored, ignoredBy } from "../../../../actors/stimulus/fitting.ts";
import { forwardedHeaders } from "../../../../actors/stimulus/headers.ts";
import { eventNamesOf } from "../sources/feature.ts";
import type { IgnoredMessage, Sources, StimulusSource } from "../sources/port.ts";
import type { IgnoredAnswer } from "./schema.ts";

/** A message that came in, as far as its source may ask for it. */
export interface Message {
  readonly headers: Headers;
  /** Parsed where it is asked for. */
  readonly payload: () => Json;
}

export interface FilterOptions {
  readonly sources: Pick<Sources, "ignored">;
  /** Counts it where operators see it. */
  readonly count: (source: Pick<StimulusSource, "tenant" | "source">, what: IgnoredMessage) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** @returns the answer to a message that its source passes over; null: it is taken in */
export type Filter = (source: StimulusSource | null, message: Message) => IgnoredAnswer | null;

/** Characters of an event's name that are shown and kept. */
const maxName = 128;

export function createFilter({ sources, count, now }: FilterOptions): Filter {
  return (source, { headers, payload }) => {
    if (source === null || !isFiltered(source)) return null;
    const names = eventNamesOf(source.preset, headers, payload());
    // What a source forwards does not decide what it takes.
    const matter = () => ({ payload: payload(), headers: forwardedHeaders(headers, ["*"]).headers });
    const reason = ignoredBy(source, names, matter);
    if (reason === null) return null;
    const what = { reason, event: shownName(names[0]) };
    sources.ignored(source, what, now());
    count(source, what);
    return {
      status: "ignored",
      ...what,
      message: messages[reason],
      stimulus_id: null,
      workflow_execution_id: null,
    };
  };
}

/** Whether a source looks at what it takes in. */
export const isFiltered = ({ events, match }: Pick<StimulusSource, "events" | "match">): boolean =>
  events.length > 0 || match !== null;

const messages: Readonly<Record<Ignored, string>> = {
  event: "The source takes other events only",
  match: "The source's match does not hold",
  match_failed: "The source's match could not be evaluated",
};

/** Senders write what they like. */
function shownName(name: string | undefined): string | null {
  return name === undefined ? null : name.slice(0, maxName).replace(/[^!-~]/g, "?");
}
