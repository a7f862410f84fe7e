/** The prompt of an iteration: the manifest's template, or the default, over the run's variables. */

import { Value } from "@sinclair/typebox/value";
import { isObject, type Json } from "../kernel/json.ts";
import type { TellMissing } from "../template/effort.ts";
import { compile, TemplateError } from "../template/template.ts";
import { IterationSummary } from "./record/history.ts";
import type { Plan } from "./start/plan.ts";

const maxPromptBytes = 4 * 1024 * 1024;
const defaultPrompt = [
  "{{instruction}}",
  "{{#if context}}{{context}}{{/if}}",
  "{{#if intent}}Intent: {{intent}}{{/if}}",
  "Input: {{input}}",
];

export type PromptPlan = Pick<
  Plan,
  | "prompt_template"
  | "instruction"
  | "description"
  | "input"
  | "input_data"
  | "attachments"
  | "agentskills"
  | "context_overrides"
  | "validators"
>;

export interface PromptFacts {
  readonly intent: string | null;
  readonly iteration: number;
  readonly maxIterations: number;
  /** The loaded items of `spec.context` as one text, "" without any. */
  readonly context: string;
  /** Entries of the log `history`, oldest first. */
  readonly history: readonly Json[];
}

/**
 * Renders the prompt afresh for one iteration.
 * @param missing told of what the manifest's template prints and does not exist
 * @throws TemplateError
 */
export function renderPrompt(plan: PromptPlan, facts: PromptFacts, missing?: TellMissing): string {
  const variables = promptVariables(plan, facts);
  const parts = plan.prompt_template === null ? defaultPrompt : [plan.prompt_template];
  const prompt = [
    ...parts.map((part) => compile(part).render(variables, maxPromptBytes, undefined, missing)),
    ...expectations(plan.validators),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
  if (new TextEncoder().encode(prompt).length > maxPromptBytes)
    throw new TemplateError("The prompt is larger than 4 MiB");
  return prompt;
}

/** What the model has to know of the schemas that its result is held to. */
function expectations(validators: PromptPlan["validators"]): string[] {
  return validators.flatMap((validator) => {
    if (validator.type !== "json_schema") return [];
    const { schema, target_path } = validator;
    const what =
      target_path === null
        ? "Your result must be JSON and nothing else, and it must conform to this JSON Schema:"
        : `Your result must be JSON and nothing else, and its member ${target_path} must conform to this JSON Schema:`;
    return [`${what}\n${JSON.stringify(schema)}`];
  });
}

/** Paths shown in a warning. */
const maxShownPaths = 10;

/**
 * The warning `template_path_missing` for what the template of a first prompt prints and does not exist; none for one that cannot
 * be rendered. Earlier attempts exist from the second iteration on.
 */
export function missingPathWarnings(plan: PromptPlan, facts: Omit<PromptFacts, "history">) {
  if (plan.prompt_template === null) return [];
  const missing = new Set<string>();
  try {
    renderPrompt(plan, { ...facts, history: [] }, (path) => missing.add(path));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
  const paths = [...missing].filter((path) => !/^previous_(?:attempts|error)\b/.test(path));
  if (paths.length === 0) return [];
  const message = `The prompt's template prints what does not exist; it is empty: ${paths.slice(0, maxShownPaths).join(", ")}`;
  return [{ code: "template_path_missing", message }];
}

function promptVariables(plan: PromptPlan, facts: PromptFacts): { [name: string]: Json } {
  const { context_overrides: overrides } = plan;
  const attempts = facts.history.filter((entry) => Value.Check(IterationSummary, entry));
  return {
    ...(isObject(overrides) ? overrides : {}),
    instruction: plan.instruction,
    description: plan.description,
    input: plan.input,
    input_data: plan.input_data,
    intent: facts.intent,
    attachments: plan.attachments,
    context: facts.context,
    agentskills: plan.agentskills,
    context_overrides: overrides,
    iteration_number: facts.iteration,
    max_iterations: facts.maxIterations,
    previous_error: previousError(attempts.at(-1)),
    previous_attempts: attempts,
  };
}

function previousError(last: IterationSummary | undefined): string {
  return last?.error ?? last?.validation_reason ?? "";
}

/** Names under which a prompt template finds values; the caller cannot take them. */
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
  if (overrides === null || typeof overrides !== "object" || Array.isArray(overrides)) return [];
  return reservedVariables.filter((name) => Object.hasOwn(overrides, name));
}
