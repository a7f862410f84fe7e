/** Values of a manifest whose texts are templates, as calls are made with them. */
import { isObject, type Json } from "../../../../kernel/json.ts";
import type { RunTurn } from "../../turn.ts";

/** Renders every text, at any depth; a text that is nothing but one `{{path}}` becomes the value itself. @throws TemplateError */
export function renderArguments(run: RunTurn, value: Json): Json {
  if (typeof value === "string") return run.renderTyped(value);
  if (Array.isArray(value)) return value.map((one: Json) => renderArguments(run, one));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, renderArguments(run, one ?? null)]));
}
