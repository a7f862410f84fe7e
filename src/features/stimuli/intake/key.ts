/** Idempotency keys of stimuli (docs/reference/stimuli.md). */

import { invalidAt } from "../../../../actors/kernel/problem.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";

const maxCharacters = 1024;

/**
 * @param path where the key stands, for the refusal
 * @returns null for an empty key as for none
 * @throws Problem 422 `validation_failed`
 */
export function checkedKey(path: string, key: string | null | undefined): string | null {
  if (key === null || key === undefined || key === "") return null;
  if (key.length > maxCharacters)
    throw invalidAt("validation_failed", path, `is longer than ${maxCharacters} characters`);
  if (!isStorable(key)) throw invalidAt("validation_failed", path, "holds characters that cannot be stored");
  return key;
}
