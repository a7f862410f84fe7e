/** Maps whose list nothing bounds before a start: over 10,000 items the state fails. */
import { isObject, type Json } from "../../../kernel/json.ts";
import type { Findings } from "../../../manifest/findings.ts";
import { compile } from "../../../template/template.ts";
import type { Definition, State } from "../../definition.ts";
import { isLiteral } from "../templates.ts";
import { type Paths, pathOf } from "./ways.ts";

type MapState = Extract<State, { kind: "Map" }>;

/** Of one Map. */
export const maxItems = 10_000;

/** Adds the warnings `map_unbounded`. */
export function warnOfUnboundedMaps(definition: Definition, paths: Paths, findings: Findings): void {
  for (const [name, state] of Object.entries(definition.states)) {
    if (state.kind !== "Map" || findings.hasIssueAt(pathOf(name, paths))) continue;
    const unbounded = inputOf(state);
    if (unbounded !== null && !isBounded(definition.input_schema, unbounded)) {
      const message = `Nothing bounds input.${unbounded.join(".")}: give it maxItems (at most ${maxItems}) in input_schema`;
      findings.warn(`${pathOf(name, paths)}.items`, "map_unbounded", message);
    }
    if (state.item.kind === "Subworkflow" && state.item.workflow === definition.name) {
      const message = "Every item runs this workflow again, which only the depth of nesting ends";
      findings.warn(pathOf(name, paths), "map_unbounded", message);
    }
  }
}

/** Where in the input the list stands that is all of the items; null: elsewhere. */
function inputOf({ items }: MapState): readonly string[] | null {
  if (typeof items !== "string" || isLiteral(items)) return null;
  const printed = compile(items).printed();
  const [names = []] = printed;
  const own = names[0] === "blackboard" ? names.slice(1) : names;
  return printed.length === 1 && own[0] === "input" && own.length > 1 ? own.slice(1) : null;
}

/** Whether a schema says how long a list may be; one that refers elsewhere may. */
function isBounded(schema: Json, path: readonly string[]): boolean {
  if (!isObject(schema)) return false;
  if (["$ref", "allOf", "anyOf", "oneOf"].some((keyword) => Object.hasOwn(schema, keyword))) return true;
  const [name, ...rest] = path;
  if (name === undefined) return typeof schema.maxItems === "number" && schema.maxItems <= maxItems;
  const { properties } = schema;
  return isObject(properties) && Object.hasOwn(properties, name) && isBounded(properties[name] ?? null, rest);
}
