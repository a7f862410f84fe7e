/** What an agent's output means to a workflow. */

import { isObject, type Json, jsonOrText } from "../../../../kernel/json.ts";
import { withoutFence } from "../../../../kernel/text.ts";

/** Its code fence stripped; parsed when it is a JSON object or array. */
export function outputValue(output: string): Json {
  return jsonOrText(withoutFence(output));
}

/** A numeric member `score` between 0 and 1; null when there is none. */
export function ownScore(output: Json): number | null {
  if (!isObject(output) || !Object.hasOwn(output, "score")) return null;
  const { score } = output;
  return typeof score === "number" && score >= 0 && score <= 1 ? score : null;
}

/** What the judges said of an earlier attempt. */
export interface Refinement {
  readonly score: number;
  readonly feedback: string;
}

/**
 * The input of an attempt after others: a text gains a paragraph for each, an object a member `refinements`; any other
 * value becomes an object of both, as with attachments.
 */
export function refinedInput(input: Json, refinements: readonly Refinement[]): Json {
  if (refinements.length === 0) return input;
  if (typeof input === "string") {
    const paragraphs = refinements.map(
      ({ score, feedback }, index) => `Attempt ${index + 1} scored ${score}${feedback === "" ? "" : `: ${feedback}`}`,
    );
    return [input, ...paragraphs].join("\n\n");
  }
  const list = refinements.map(({ score, feedback }, index) => ({ iteration: index + 1, score, feedback }));
  return isObject(input) ? { ...input, refinements: list } : { value: input, refinements: list };
}
