/** Paths that the templates of an agent print and that no run has: typing errors, mostly. */
import { suggestion } from "../../kernel/nearest.ts";
import type { Fields } from "../../manifest/fields.ts";
import { knownMembers } from "../../manifest/json-schema/input-schema.ts";
import { compile } from "../../template/template.ts";
import type { AgentSpec } from "./spec.ts";

/** Under which a prompt's template finds values. Callers bring others by `context_overrides`, none of these. */
export const promptVariables: readonly string[] = [
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

/** Under which an output handler's template finds values. */
const handlerVariables: readonly string[] = [
  "output",
  "input",
  "intent",
  "instruction",
  "context_overrides",
  "execution_id",
  "agent_id",
  "agent_name",
  "iteration_number",
];

/** Of one template: how many are told, and how many paths are looked at. */
const mostWarnings = 20;
const mostPaths = 500;

type Read = Pick<AgentSpec, "input_schema" | "output_handler"> & { readonly task: AgentSpec["task"] };

/** Adds a warning `template_path_missing` for each template and path. @param fields those of `spec` */
export function warnOfMissingPaths({ task, input_schema, output_handler }: Read, fields: Fields): void {
  const told = (at: string, source: string | null, variables: readonly string[], bringsMore: boolean) => {
    const printed = source === null ? [] : compile(source).printed();
    const messages = printed
      .slice(0, mostPaths)
      .flatMap((names) => missing(names, variables, input_schema, bringsMore) ?? []);
    for (const message of [...new Set(messages)].slice(0, mostWarnings))
      fields.warn(at, "template_path_missing", message);
  };
  told("task.prompt_template", task.prompt_template, promptVariables, true);
  if (output_handler === null) return;
  if (output_handler.type === "agent") {
    told("output_handler.input_template", output_handler.input_template, handlerVariables, false);
  } else told("output_handler.body_template", output_handler.body_template, handlerVariables, false);
}

/** Null: it may be there. */
function missing(
  [root = "", member]: readonly string[],
  variables: readonly string[],
  schema: AgentSpec["input_schema"],
  bringsMore: boolean,
): string | null {
  if (!variables.includes(root)) {
    const who = bringsMore ? "is no variable of prompts; a start may bring it" : "is no variable of output handlers";
    return `${root.slice(0, 200)} ${who}${suggestion(root, variables)}`;
  }
  const known = root === "input" && member !== undefined ? knownMembers(schema) : null;
  if (known === null || member === undefined || known.names.includes(member)) return null;
  return `input.${member.slice(0, 200)} does not exist${suggestion(member, known.names)}`;
}
