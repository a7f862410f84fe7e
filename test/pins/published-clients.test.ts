/** Each method of the published clients has an operation whose answer holds what the method reads. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { calls, type Needed } from "./published-clients.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}
interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

const lines = readFileSync(join(import.meta.dir, "openapi.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean);
const pinned = lines.map((line) => JSON.parse(line) as [string, unknown]);
const document = pinned[0]?.[1] as { components: { schemas: Readonly<Record<string, Schema>> } };
const operations = new Map(
  pinned.slice(1).map(([name, operation]) => [name.replace(/\{[^}]*\}/g, "{}"), operation as Operation]),
);

/** The shapes that a value may have, references followed, null left out. */
function shapesOf(schema: Schema): Schema[] {
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return named === undefined ? [] : shapesOf(named);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap(shapesOf);
  if (schema.allOf !== undefined) {
    const parts = schema.allOf.flatMap(shapesOf);
    const properties = Object.assign({}, ...parts.map((part) => part.properties ?? {}));
    return [{ type: "object", properties, required: parts.flatMap(({ required }) => required ?? []) }];
  }
  return schema.type === "null" ? [] : [schema];
}

const isNullable = (schema: Schema): boolean =>
  schema.$ref !== undefined
    ? isNullable(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {})
    : schema.type === "null" || (schema.anyOf ?? schema.oneOf ?? []).some(isNullable);

const typeOf = ({ type, const: only, enum: some }: Schema): unknown =>
  type ?? (only !== undefined ? typeof only : some?.length ? typeof some[0] : undefined);

/** What a client that reads `needed` would refuse in a value of that schema. */
function faults(schema: Schema, needed: Needed, at: string): string[] {
  if (needed === "any") return [];
  const shapes = shapesOf(schema);
  if (shapes.length === 0) return [`${at}: no shape`];
  return shapes.flatMap((shape) => {
    const type = typeOf(shape);
    if (typeof needed === "string") {
      const fits = type === needed || (needed === "number" && type === "integer");
      return fits ? [] : [`${at}: ${String(type)} where ${needed} is read`];
    }
    if (Array.isArray(needed)) return shape.items ? faults(shape.items, needed[0], `${at}[]`) : [`${at}: no list`];
    return Object.entries(needed).flatMap(([name, inner]) => {
      const isOptional = name.endsWith("?");
      const key = isOptional ? name.slice(0, -1) : name;
      const property = shape.properties?.[key];
      if (property === undefined) return isOptional ? [] : [`${at}.${key}: not there`];
      if (!isOptional && shape.required?.includes(key) !== true) return [`${at}.${key}: may be missing`];
      if (!isOptional && isNullable(property)) return [`${at}.${key}: may be null`];
      return faults(property, inner, `${at}.${key}`);
    });
  });
}

test("each method of the published clients finds in its answer what it reads", () => {
  const found = Object.entries(calls).flatMap(([name, needed]) => {
    const operation = operations.get(name);
    if (operation === undefined) return [`${name}: no such operation`];
    if (needed === "raw" || Object.keys(needed).length === 0) return [];
    const answers = Object.entries(operation.responses).filter(([status]) => /^2\d\d$/.test(status));
    const schemas = answers.flatMap(([, { content }]) => content?.["application/json"]?.schema ?? []);
    if (schemas.length === 0) return [`${name}: no JSON answer`];
    // The clients never ask for what has another answer, such as a dry run.
    const each = schemas.flatMap(shapesOf).map((shape) => faults(shape, needed, name));
    return each.toSorted((one, other) => one.length - other.length)[0] ?? [];
  });
  expect(found).toEqual([]);
});
