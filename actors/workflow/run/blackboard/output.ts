/**
 * A run's `final_output` (docs/reference/workflows.md): the entries of the output template, rendered on the final blackboard and brought
 * to the types that the output schema names.
 */
import { isObject, type Json, jsonOrText } from "../../../kernel/json.ts";
import type { Effort, TellMissing } from "../../../template/effort.ts";
import { compile, TemplateError } from "../../../template/template.ts";
import type { Definition } from "../../definition.ts";
import { maxRenderedBytes } from "../turn.ts";
import { variablesOf } from "./variables.ts";

/** Characters of all entries together. */
const maxOutputLength = 4 * 1_048_576;

type Values = { readonly [name: string]: Json };

export interface FinalOutput {
  /** Null without an output template. */
  readonly output: Json;
  /** What could not be brought to its type and stayed text. */
  readonly kept: readonly { readonly key: string; readonly type: string }[];
}

/**
 * @param effort shared by all entries; each has its own by default
 * @param missing told of what is printed and does not exist
 * @throws TemplateError
 */
export function finalOutput(
  { output_template, output_schema }: Pick<Definition, "output_template" | "output_schema">,
  blackboard: Values,
  effort?: Effort,
  missing?: TellMissing,
): FinalOutput {
  if (output_template === null) return { output: null, kept: [] };
  const variables = variablesOf(blackboard, {});
  const kept: { key: string; type: string }[] = [];
  let room = maxOutputLength;
  const members = Object.entries(output_template).map(([key, template]) => {
    const text = compile(template).render(variables, maxRenderedBytes, effort, missing);
    room -= text.length;
    if (room < 0) throw new TemplateError("The output is too large");
    const types = typesOf(output_schema, key);
    const value = coerced(text, types);
    if (value === undefined) kept.push({ key, type: types.join(" or ") });
    return [key, value ?? (value === null ? null : text)] as const;
  });
  return { output: Object.fromEntries(members), kept };
}

/** The types that a schema names for one of its properties; none: any text will do. */
function typesOf(schema: Json, key: string): string[] {
  const type = memberOf(memberOf(memberOf(schema, "properties"), key), "type");
  return (Array.isArray(type) ? (type as Json[]) : [type]).filter((one): one is string => typeof one === "string");
}

function memberOf(value: Json, name: string): Json {
  if (!isObject(value) || !Object.hasOwn(value, name)) return null;
  return (value as Values)[name] ?? null;
}

/**
 * A rendered text as a value of one of these types. Where a text will do, it stays as it is; else blanks around it do
 * not count and an empty one is null.
 * @returns undefined when it is of none of them
 */
export function coerced(text: string, types: readonly string[]): Json | undefined {
  const others = types.filter((type) => type !== "null");
  if (others.length === 0 || others.includes("string")) return text;
  const trimmed = text.trim();
  if (trimmed === "") return null;
  for (const type of others) {
    const value = readAs(trimmed, type);
    if (value !== undefined) return value;
  }
  return undefined;
}

const decimal = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function readAs(text: string, type: string): Json | undefined {
  switch (type) {
    case "integer":
    case "number": {
      const value = decimal.test(text) ? Number(text) : Number.NaN;
      if (!Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) return undefined;
      return value;
    }
    case "boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "object":
    case "array":
      return parsed(text, type);
    default:
      return undefined;
  }
}

function parsed(text: string, type: "object" | "array"): Json | undefined {
  const value = jsonOrText(text);
  if (value === null || typeof value !== "object") return undefined;
  return Array.isArray(value) === (type === "array") ? value : undefined;
}
