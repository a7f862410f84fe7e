/** The prompt of an iteration: the manifest's template, or the default, over the run's variables. */

import { Value } from "@sinclair/typebox/value";
import { promptVariables } from "../agent/manifest/missing-paths.ts";
import { isObject, type Json } from "../kernel/json.ts";
import type { TellMissing } from "../template/effort.ts";
import { compile, TemplateError } from "../template/template.ts";
import { renderForHandler } from "./output/handler-text.ts";
import { IterationSummary } from "./record/history.ts";
import type { StartPlan } from "./start/facts.ts";
import type { Plan, Warning } from "./start/plan.ts";

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
  const variables = variablesOf(plan, facts);
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
 * The warning `template_path_missing` for what the templates of the first prompt and of the output handler print and does
 * not exist; none for one that cannot be rendered. Earlier attempts exist from the second iteration on.
 */
export function missingPathWarnings(start: Pick<StartPlan, "header" | "plan">, executionId: string): Warning[] {
  const { header, plan } = start;
  const { intent, max_iterations: maxIterations } = header;
  const facts = { intent, iteration: 1, maxIterations, context: "", history: [] };
  const ofPrompt = plan.prompt_template === null ? [] : missingIn((tell) => renderPrompt(plan, facts, tell));
  const { output_handler: handler } = plan;
  const template = handler?.type === "agent" ? handler.input_template : (handler?.body_template ?? null);
  const accepted = { executionId, header, plan, iteration: 1, output: "" };
  const ofHandler = template === null ? [] : missingIn((tell) => renderForHandler(template, accepted, tell));
  const parts = [
    ["The prompt's template", ofPrompt.filter((path) => !/^previous_(?:attempts|error)\b/.test(path))],
    ["The output handler's template", ofHandler],
  ] as const;
  const messages = parts
    .filter(([, paths]) => paths.length > 0)
    .map(
      ([what, paths]) => `${what} prints what does not exist; it is empty: ${paths.slice(0, maxShownPaths).join(", ")}`,
    );
  return messages.length === 0 ? [] : [{ code: "template_path_missing", message: messages.join(". ") }];
}

function missingIn(render: (tell: TellMissing) => string): string[] {
  const missing = new Set<string>();
  try {
    render((path) => missing.add(path));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
  }
  return [...missing];
}

function variablesOf(plan: PromptPlan, facts: PromptFacts): { [name: string]: Json } {
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

/** Keys of `context_overrides` that would hide a reserved variable. */
export function reservedKeys(overrides: Json): readonly string[] {
  if (overrides === null || typeof overrides !== "object" || Array.isArray(overrides)) return [];
  return promptVariables.filter((name) => Object.hasOwn(overrides, name));
}
