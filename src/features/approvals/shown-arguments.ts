/** The arguments of a tool call beside what of them people may see, by one rule for every way that a call comes. */
import { redactedArguments } from "../../../actors/approval/redaction.ts";
import type { CallArguments } from "../../../actors/approval/tool-call.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { sha256Hex } from "../../lib/digest.ts";
import type { Masker } from "../../lib/masking/masker.ts";

/** @param masker hides what the execution of the call was given; null: there is nothing of the kind */
export function shownArguments(
  given: { readonly [name: string]: Json | undefined },
  masker: Masker | null,
): CallArguments {
  const masked = masker === null ? given : masker.maskJson(given as Json);
  const redacted = redactedArguments(isObject(masked) ? masked : {});
  return {
    given: { ...given } as CallArguments["given"],
    redacted,
    sha256: sha256Hex(JSON.stringify(ordered(given as Json))),
  };
}

/** The order of members says nothing: equal arguments have equal digests. */
function ordered(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(ordered);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, ordered(value[name] ?? null)]));
}
