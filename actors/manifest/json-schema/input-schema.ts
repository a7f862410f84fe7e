/** What an `input_schema` makes of an input (docs/reference/executions.md). */

import type { ValidateFunction } from "ajv";
import { isObject, type Json } from "../../kernel/json.ts";
import { fillDefaults, fillTopDefaults, TooManyDefaults } from "./defaults.ts";
import { issuesOf, type SchemaIssue } from "./issues.ts";

/** `input` is the value the agent gets: parsed where its text was JSON, defaults filled in. */
export type InputVerdict =
  | { readonly ok: true; readonly input: Json }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] };

/** How far a schema may change an input. */
export interface InputRules {
  /** Whether defaults are filled in at any depth, or at the top only. */
  readonly deepDefaults: boolean;
  /** Whether a text that does not conform may be JSON that does. */
  readonly readsText: boolean;
}

export const agentInput: InputRules = { deepDefaults: true, readsText: true };
export const workflowInput: InputRules = { deepDefaults: false, readsText: false };

/** Nesting of a text read as JSON; the same as of a request's body. */
const maxDepth = 256;

/** @param maxCharacters of JSON that defaults may add */
export function judgeInput(
  schema: Json,
  validate: ValidateFunction,
  input: Json,
  maxCharacters: number,
  rules: InputRules = agentInput,
): InputVerdict {
  const fill = rules.deepDefaults ? fillDefaults : fillTopDefaults;
  const conform = (value: Json) => conforming(validate, () => fill(schema, value, maxCharacters));
  const asIs = conform(input);
  if (asIs.ok || typeof input !== "string" || !rules.readsText) return asIs;
  const parsed = readJson(input);
  return parsed === undefined ? asIs : conform(parsed);
}

function conforming(validate: ValidateFunction, fill: () => Json): InputVerdict {
  try {
    const filled = fill();
    const issues = issuesOf(validate, filled, "input");
    return issues.length === 0 ? { ok: true, input: filled } : { ok: false, issues };
  } catch (error) {
    if (error instanceof TooManyDefaults) return { ok: false, issues: [{ path: "input", message: error.message }] };
    // A schema that refers to itself, followed down a deep value.
    if (error instanceof RangeError) return { ok: false, issues: [{ path: "input", message: "is nested too deeply" }] };
    throw error;
  }
}

function readJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Told from the text: brackets inside strings count as well, which only ever refuses. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x7b || unit === 0x5b) depth += 1;
    else if (unit === 0x7d || unit === 0x5d) depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

/** Keywords whose price has no small bound: patterns, quadratic comparisons, and references, which multiply. */
const costly = new Set([
  "pattern",
  "patternProperties",
  "uniqueItems",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const plainFormats = new Set(["date", "date-time", "uuid"]);
/** Below these stand names of the schema's author, not keywords. */
const nameMaps = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Whether compiling the schema is soon done, and checking a value takes no longer than the sizes of schema and value
 * multiplied say. Others may take for ever and have to be run in a program of their own.
 * @param most members and items that the schema may have in all
 */
export function isTame(schema: Json, most: number): boolean {
  let left = most;
  const visit = (part: Json): boolean => {
    if (part === null || typeof part !== "object") return true;
    left -= Array.isArray(part) ? part.length : Object.keys(part).length;
    if (left < 0) return false;
    if (Array.isArray(part)) return part.every(visit);
    return Object.entries(part).every(([keyword, value = null]) => {
      if (costly.has(keyword)) return false;
      if (keyword === "format") return typeof value === "string" && plainFormats.has(value);
      if (!nameMaps.has(keyword) || !isObject(value)) return visit(value);
      const below = Object.values(value);
      left -= below.length;
      return below.every((one = null) => visit(one));
    });
  };
  return visit(schema);
}

/** Members that a schema names. */
export interface KnownMembers {
  readonly names: readonly string[];
  /** There are no others. */
  readonly isClosed: boolean;
}

/** What a schema says of an object's members; null where it says nothing, or more than can be seen here. */
export function knownMembers(schema: Json): KnownMembers | null {
  if (!isObject(schema)) return null;
  const { properties = null, additionalProperties = true } = schema;
  const isPlain = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].every(
    (key) => !Object.hasOwn(schema, key),
  );
  if (!isPlain || !isObject(properties)) return null;
  return { names: Object.keys(properties), isClosed: additionalProperties === false };
}
