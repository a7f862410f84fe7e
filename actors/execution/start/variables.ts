/** Names a prompt template finds values under whatever the caller adds (agents-executions 4.1). */

import { isObject, type Json } from "../../kernel/json.ts";

const reservedVariables: readonly string[] = [
  "instruction",
  "description",
  "input",
  "input_data",
  "intent",
  "attachments",
  "context",
  "agentskills",
  "context_overrides",
  "iteration_number",
  "max_iterations",
  "previous_error",
  "previous_attempts",
];

/** Keys of `context_overrides` that would hide a reserved variable. */
export function reservedKeys(overrides: Json): readonly string[] {
  if (!isObject(overrides)) return [];
  return reservedVariables.filter((name) => Object.hasOwn(overrides, name));
}
