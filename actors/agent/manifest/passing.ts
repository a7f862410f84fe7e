/** What the result of a validator must reach. */
import type { Fields } from "../../manifest/fields.ts";

const share = { min: 0, max: 1 };

/** @param minScore where the manifest names none */
export function readPassing(fields: Fields, minScore: number): { min_score: number; min_confidence: number } {
  return {
    min_score: fields.number("min_score", share) ?? minScore,
    min_confidence: fields.number("min_confidence", share) ?? 0,
  };
}
