/** What the fields of a manifest mean, put into its JSON Schema: editors show it, and the reference prints it. */
import { isObject, type Json } from "../kernel/json.ts";
import type { JsonSchema } from "./shape.ts";

/**
 * Path of a field → what it means. A path is the names of the members from the document, or from a definition, joined by
 * dots; `*` stands for any name of a map. The beginning may be left out: `retry.delay` is said of each of them. A field of
 * a variant with a `kind` is looked for under that kind as well: `Http.url`.
 */
export type Descriptions = Readonly<Record<string, string>>;

/** The schema with a `description` for each field that `descriptions` has one for. */
export function described(schema: JsonSchema, descriptions: Descriptions): JsonSchema {
  return within(schema, [], descriptions);
}

/** The fields of a schema by their paths, each once, as `described` names them. */
export function* fieldsOf(schema: Json | undefined, path: readonly string[] = []): Iterable<[string, JsonSchema]> {
  if (!isObject(schema)) return;
  const place = placeOf(schema, path);
  for (const [name, field] of membersOf(schema.properties)) {
    if (isObject(field)) yield [[...place, name].join("."), field];
    yield* fieldsOf(field, [...place, name]);
  }
  for (const variant of [...listOf(schema.anyOf), ...listOf(schema.oneOf), ...listOf(schema.allOf)]) {
    yield* fieldsOf(variant, path);
  }
  yield* fieldsOf(schema.items, path);
  yield* fieldsOf(schema.additionalProperties, [...place, "*"]);
  for (const [name, definition] of membersOf(schema.$defs)) yield* fieldsOf(definition, [name]);
}

function within(schema: JsonSchema, path: readonly string[], descriptions: Descriptions): JsonSchema {
  const inner = (value: Json | undefined, at: readonly string[]): Json =>
    isObject(value) ? within(value, at, descriptions) : (value ?? null);
  const each = (values: Json | undefined) => listOf(values).map((value) => inner(value, path));
  const place = placeOf(schema, path);
  const fields = membersOf(schema.properties).map(([name, field]): [string, Json] => {
    const text = textOf([...place, name], descriptions);
    const inside = inner(field, [...place, name]);
    return [name, text === null || !isObject(inside) ? inside : { description: text, ...inside }];
  });
  return {
    ...schema,
    ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
    ...(schema.anyOf === undefined ? {} : { anyOf: each(schema.anyOf) }),
    ...(schema.oneOf === undefined ? {} : { oneOf: each(schema.oneOf) }),
    ...(schema.allOf === undefined ? {} : { allOf: each(schema.allOf) }),
    ...(schema.items === undefined ? {} : { items: inner(schema.items, path) }),
    ...(schema.additionalProperties === undefined
      ? {}
      : { additionalProperties: inner(schema.additionalProperties, [...place, "*"]) }),
    ...(schema.$defs === undefined
      ? {}
      : {
          $defs: Object.fromEntries(membersOf(schema.$defs).map(([name, value]) => [name, inner(value, [name])])),
        }),
  };
}

/** A variant that says its kind is a place of its own, wherever it stands. */
function placeOf(schema: JsonSchema, path: readonly string[]): readonly string[] {
  const kind = isObject(schema.properties) && isObject(schema.properties.kind) ? schema.properties.kind.const : null;
  return typeof kind === "string" ? [kind] : path;
}

function textOf(path: readonly string[], descriptions: Descriptions): string | null {
  for (let from = 0; from < path.length; from += 1) {
    const text = descriptions[path.slice(from).join(".")];
    if (text !== undefined) return text;
  }
  return null;
}

const membersOf = (value: Json | undefined): readonly (readonly [string, Json])[] =>
  isObject(value) ? Object.entries(value).map(([name, member]) => [name, member ?? null] as const) : [];

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
