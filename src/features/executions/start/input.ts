/** What a start hands to the agent: its input, what is added to it, and whether a prompt can be made of it. */

import type { Plan } from "../../../../actors/execution/start/plan.ts";
import { renderPrompt } from "../../../../actors/execution/start/prompt.ts";
import { reservedKeys } from "../../../../actors/execution/start/variables.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { invalid } from "../../../../actors/kernel/problem.ts";
import { isStorableJson } from "../../../../actors/manifest/storable.ts";
import { TemplateError } from "../../../../actors/template/template.ts";
import type { Attachment } from "../../volumes/attachments/attachments.ts";
import { maxInputBytes } from "../schema.ts";
import { checkAgainstSchema } from "./input-check.ts";
import { refused, unusableText } from "./request.ts";

/**
 * The input as the agent gets it: attachments folded in, conforming to the schema, parsed where its text was JSON,
 * defaults filled in.
 * @param schema the agent's `input_schema`; null admits anything
 * @throws Problem 422 `input_validation_failed`
 */
export async function settleInput(given: Json, attachments: readonly Attachment[], schema: Json): Promise<Json> {
  const text = JSON.stringify(given);
  if (Buffer.byteLength(text) > maxInputBytes) {
    throw refused("input_validation_failed", "input", `is larger than ${maxInputBytes} bytes`);
  }
  requireStorable(given, text);
  const input = folded(given, attachments);
  if (schema === null) return input;
  const verdict = await checkAgainstSchema(schema, input, text.length);
  if (!verdict.ok) {
    const issues = verdict.issues.map((issue) => ({ ...issue, code: "input_validation_failed" }));
    throw invalid("input_validation_failed", "The input does not fit the agent's input_schema", issues);
  }
  if (verdict.input !== input) requireStorable(verdict.input, JSON.stringify(verdict.input));
  return verdict.input;
}

/** With attachments an object gains them; any other input becomes an object of both (agents-executions 3.3). */
function folded(input: Json, attachments: readonly Attachment[]): Json {
  if (attachments.length === 0) return input;
  const list = attachments.map((attachment) => ({ ...attachment }));
  return isObject(input) ? { ...input, attachments: list } : { value: input, attachments: list };
}

function requireStorable(input: Json, text: string): void {
  // A prompt travels as a program's argument, which cannot hold NUL. Escapes show in the JSON text.
  if (!/\\u0000|\\ud[89a-f]/i.test(text)) return;
  if (!isStorableJson(input)) throw refused("input_validation_failed", "input", unusableText);
}

/** @throws Problem 422 `reserved_override_key` */
export function requireFreeKeys(overrides: Json): void {
  const reserved = reservedKeys(overrides);
  if (reserved.length === 0) return;
  const issues = reserved.map((name) => ({
    path: `context_overrides.${name}`,
    message: "is a variable of its own",
    code: "reserved_override_key",
  }));
  throw invalid("reserved_override_key", "Some keys of context_overrides are reserved", issues);
}

/**
 * Renders the first prompt once, so that a template that cannot work is told now.
 * @throws Problem 422 `template_error`
 */
export function requirePrompt(plan: Plan, intent: string | null, maxIterations: number): void {
  // The default prompt fits whatever it is given.
  if (plan.prompt_template === null) return;
  try {
    renderPrompt(plan, { intent, iteration: 1, maxIterations, context: "", history: [] });
  } catch (error) {
    if (error instanceof TemplateError) throw refused("template_error", "task.prompt_template", error.message);
    throw error;
  }
}
