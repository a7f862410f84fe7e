/** Keys of the blackboard that a manifest chooses. */
import type { Fields } from "../../manifest/fields.ts";
import { reservedKeys } from "../run/blackboard/reserved.ts";

const bounds = { min: 1, max: 128, pattern: /^[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u, form: "a plain name" };

/** @returns null when absent, and after an issue */
export function readBlackboardKey(fields: Fields, key: string, states: ReadonlySet<string>): string | null {
  const name = fields.text(key, bounds);
  if (name === null) return null;
  if (reservedKeys.has(name)) return fields.issue(key, "is a reserved key of the blackboard");
  return states.has(name) ? fields.issue(key, "is the name of a state") : name;
}
