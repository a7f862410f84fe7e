/** What a start brings besides the workflow, judged: input, overrides, intent (workflow contract, sections 5, 6, 10). */

import { maxInputBytes } from "../../../../../actors/execution/start/request.ts";
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { type Issue, invalid, type Problem } from "../../../../../actors/kernel/problem.ts";
import { workflowInput } from "../../../../../actors/manifest/input-schema.ts";
import { isStorableJson, unusableText } from "../../../../../actors/manifest/storable.ts";
import { reservedKeys } from "../../../../../actors/workflow/run/blackboard/reserved.ts";
import { jsonBytes, maxBlackboardBytes } from "../../../../../actors/workflow/run/blackboard/size.ts";
import { checkAgainstSchema } from "../../../executions/start/input-check.ts";

export type JsonObject = { readonly [key: string]: Json };

/**
 * The input with the schema's defaults filled in; `null` counts as none.
 * @param schema the workflow's `input_schema`; null admits anything
 * @param most bytes of the input's JSON
 * @throws Problem 422 `invalid_input`
 */
export async function settleInput(given: Json, schema: Json, most = maxInputBytes): Promise<Json> {
  const input = given ?? {};
  const text = JSON.stringify(input);
  if (Buffer.byteLength(text) > most) {
    throw invalidInput([{ path: "input", message: `is larger than ${most} bytes` }]);
  }
  requireStorable(input, text);
  if (schema === null) return input;
  const verdict = await checkAgainstSchema(schema, input, text.length, workflowInput, most);
  if (!verdict.ok) throw invalidInput(verdict.issues);
  if (verdict.input !== input) requireStorable(verdict.input, JSON.stringify(verdict.input));
  return verdict.input;
}

function requireStorable(input: Json, text: string): void {
  // Escapes show in the JSON text.
  if (!/\\u0000|\\ud[89a-f]/i.test(text) || isStorableJson(input)) return;
  throw invalidInput([{ path: "input", message: unusableText }]);
}

function invalidInput(findings: readonly { readonly path: string; readonly message: string }[]): Problem {
  const [first] = findings;
  const told = first === undefined ? "it does not fit" : `${first.path}: ${first.message}`;
  const issues = findings.map(({ path, message }): Issue => ({ path, message, code: "invalid_input" }));
  return invalid("invalid_input", `Input validation failed: ${told}`, issues);
}

/**
 * What a request lays over the blackboard.
 * @param given of every spelling; later ones win
 * @throws Problem 422 `invalid_blackboard`
 */
export function mergedOverrides(given: readonly { readonly path: string; readonly value: Json }[]): JsonObject | null {
  const objects = given.flatMap(({ path, value }): JsonObject[] => {
    if (value === null) return [];
    if (!isObject(value)) throw badBlackboard(path, "must be an object or null");
    return [value as JsonObject];
  });
  return objects.length === 0 ? null : Object.fromEntries(objects.flatMap(Object.entries<Json>));
}

/** @throws Problem 422 `invalid_blackboard`, `reserved_blackboard_key` */
export function settleOverrides(given: Json): JsonObject {
  if (given === null) return {};
  if (!isObject(given)) throw badBlackboard("blackboard", "must be an object or null");
  if (!isStorableJson(given)) throw badBlackboard("blackboard", unusableText);
  if (jsonBytes(given) > maxBlackboardBytes) {
    throw badBlackboard("blackboard", `is larger than ${maxBlackboardBytes} bytes`);
  }
  const reserved = Object.keys(given).filter((key) => reservedKeys.has(key));
  if (reserved.length === 0) return given as JsonObject;
  const issues = reserved.map((key) => ({
    path: `blackboard.${key}`,
    message: "is a key of the engine",
    code: "reserved_blackboard_key",
  }));
  throw invalid("reserved_blackboard_key", "Some keys of the blackboard are reserved", issues);
}

function badBlackboard(path: string, message: string): Problem {
  return invalid("invalid_blackboard", `${path}: ${message}`, [{ path, message, code: "invalid_blackboard" }]);
}
