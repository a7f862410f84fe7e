/** JSON Schemas in few words. */
import { isObject, type Json } from "../../actors/kernel/json.ts";
import type { JsonSchema } from "../../actors/manifest/shape.ts";
import { anchorOf } from "../../src/features/documentation/pages/anchors.ts";

/** `text`, `list of integer`, `a` or `b`; a definition as a link to its heading. Null, which means absent, is left out. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, type, items, anyOf, oneOf } = schema;
  if (typeof $ref === "string") return linkTo($ref.slice($ref.lastIndexOf("/") + 1));
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (Array.isArray(schema.enum)) {
    return schema.enum
      .filter((value) => value !== null)
      .map((value) => `\`${String(value)}\``)
      .join(", ");
  }
  const variants = [...(Array.isArray(anyOf) ? anyOf : []), ...(Array.isArray(oneOf) ? oneOf : [])].filter(isObject);
  if (variants.length > 0) {
    const told = variants.filter((one) => one.type !== "null" && one.not === undefined).map(typeOf);
    return [...new Set(told)].join(" or ") || "nothing";
  }
  const types = (Array.isArray(type) ? type : [type]).filter((one) => one !== "null" && one !== undefined);
  if (types.length === 0) return "any JSON";
  return types.map((one) => (one === "array" ? listOf(items) : (names[String(one)] ?? String(one)))).join(" or ");
}

const names: Readonly<Record<string, string>> = { string: "text", object: "object" };

const listOf = (items: Json | undefined): string => (isObject(items) ? `list of ${typeOf(items)}` : "list");

const linkTo = (definition: string): string => `[${definition}](#${anchorOf(definition)})`;

/** What a value may be within its type. */
export function boundsOf(schema: JsonSchema): string {
  const own = ownBounds(schema);
  const variants = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isObject);
  // Objects of variants have rows of their own.
  const inner = variants.filter(({ properties }) => properties === undefined).map(boundsOf);
  return [...new Set([own, ...inner])].filter((part) => part !== "").join("; ");
}

function ownBounds(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, pattern, $comment } = schema;
  const items = isObject(schema.items) && schema.items.$ref === undefined ? boundsOf(schema.items) : "";
  return [
    range(minimum, maximum, ""),
    range(minLength === 1 ? undefined : minLength, maxLength, " characters"),
    range(minItems, maxItems, " elements"),
    range(undefined, maxProperties, " members"),
    typeof $comment === "string" ? $comment : shownPattern(pattern),
    items === "" ? "" : `each: ${items}`,
  ]
    .filter((part) => part !== "")
    .join(", ");
}

/** Long ones are notations, which the meaning of the field tells by examples. */
const shownPattern = (pattern: Json | undefined): string =>
  typeof pattern === "string" && pattern.length <= 40 ? `\`${pattern}\`` : "";

function range(least: Json | undefined, most: Json | undefined, unit: string): string {
  const number = (value: number) => value.toLocaleString("en");
  if (typeof least === "number" && typeof most === "number") return `${number(least)} to ${number(most)}${unit}`;
  if (typeof most === "number") return `at most ${number(most)}${unit}`;
  return typeof least === "number" ? `at least ${number(least)}${unit}` : "";
}
