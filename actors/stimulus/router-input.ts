/** What a router agent is started with (docs/reference/stimuli.md). */
import type { Json } from "../kernel/json.ts";

/** A workflow as it is offered to a router. */
export interface OfferedWorkflow {
  readonly workflow_id: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The stimulus that is to be classified. */
export interface RoutedStimulus {
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly content: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Workflows a router is offered at most. */
export const maxOffered = 200;
/** Bytes of JSON that all of them may take, and the characters of a description when they would take more. */
const maxOfferBytes = 393_216;
const shortDescription = 256;
/** Bytes of JSON that any agent's input may have. */
const maxInputBytes = 1_048_576;

/**
 * Workflows as the router sees them: whole, unless that would crowd out the stimulus; then their descriptions are
 * shortened and their labels left out.
 */
export function offerOf(workflows: readonly OfferedWorkflow[]): readonly OfferedWorkflow[] {
  const offered = workflows
    .slice(0, maxOffered)
    .map(({ workflow_id, name, description, labels }) => ({ workflow_id, name, description, labels }));
  if (jsonBytes(offered) <= maxOfferBytes) return offered;
  return offered.map((one) => ({
    ...one,
    description: one.description.slice(0, shortDescription).toWellFormed(),
    labels: {},
  }));
}

/**
 * The input. A stimulus that would make it larger than any agent's input may be is cut, and `stimulus_truncated` says so.
 * @param offered as `offerOf` made it
 */
export function routerInput(
  { id, tenant, source, content, headers }: RoutedStimulus,
  offered: readonly OfferedWorkflow[],
): Json {
  const rest = {
    source,
    stimulus_id: id,
    tenant_id: tenant,
    headers: { ...headers },
    workflows: offered.map((one) => ({ ...one, labels: { ...one.labels } })),
  };
  // Six bytes are the most that JSON makes of one character.
  if (content.length * 6 + 2 * maxOfferBytes <= maxInputBytes) return { stimulus: content, ...rest };
  const room = maxInputBytes - jsonBytes(rest) - jsonBytes({ stimulus: "", stimulus_truncated: true });
  const stimulus = fitting(content, room);
  return stimulus.length === content.length ? { stimulus, ...rest } : { stimulus, stimulus_truncated: true, ...rest };
}

/** As much of a text as its JSON form has room for. */
function fitting(text: string, room: number): string {
  const inJson = (part: string) => jsonBytes(part) - 2;
  if (inJson(text) <= room) return text;
  let [fits, tooLong] = [0, Math.min(text.length, Math.max(0, room) + 1)];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (inJson(text.slice(0, middle)) <= room) fits = middle;
    else tooLong = middle;
  }
  // Half a surrogate pair takes more room than the whole, so the cut is never between its halves.
  return text.slice(0, fits);
}

const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;
