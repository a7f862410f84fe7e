/** Checking what came in against a route's schemas, with every finding told at once. */

import { KindGuard, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { isObject } from "../../../actors/kernel/json.ts";
import { invalid, invalidRequest, Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import { shapeIssues } from "../../../actors/kernel/shape-issues.ts";

/** Findings told per request; a thousand bad labels need no thousand lines. */
const maxIssues = 100;

/**
 * Prepares a schema for bodies: optional nulls count as absent, defaults are filled in.
 * @returns a check that throws Problem 422 `validation_failed`
 */
export function bodyChecker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = TypeCompiler.Compile(schema);
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  const removeNulls = withoutNulls(schema);
  return (value) => {
    removeNulls?.(value);
    const filled = hasDefaults ? Value.Default(schema, value) : value;
    if (!check.Check(filled)) throw invalidInput(check, filled);
    return filled;
  };
}

/** Prepares the schema of a query string: texts become what the schema asks for. */
export function queryChecker(schema: TObject): (query: URLSearchParams) => unknown {
  const check = TypeCompiler.Compile(schema);
  const properties = Object.entries(schema.properties);
  return (query) => {
    const given = properties.flatMap(([name, property]) => {
      const value = queryValue(property, name, query.getAll(name));
      return value === undefined ? [] : [[name, value] as const];
    });
    const filled = Value.Default(schema, Object.fromEntries(given));
    if (!check.Check(filled)) throw invalidInput(check, filled);
    return filled;
  };
}

/** A member of the query as its schema wants it; undefined when it is not given. */
function queryValue(schema: TSchema, name: string, texts: readonly string[]): unknown {
  if (texts.some((text) => text.includes("\0"))) throw nulInQuery(name);
  if (texts[0] === undefined) return undefined;
  return KindGuard.IsArray(schema) ? texts.map((text) => fromText(schema.items, text)) : fromText(schema, texts[0]);
}

/**
 * Prepares the schema of path parameters: a mismatch is 400 with the code the schema names. The rest of a path is decoded,
 * unless its schema says `x-raw`: then its `/` can still be told from those that were encoded.
 */
export function paramsChecker(schema: TObject): (params: Readonly<Record<string, string>>) => Record<string, unknown> {
  const parts = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    property,
    check: TypeCompiler.Compile(property),
    isUuid: property.format === "uuid",
  }));
  return (params) => {
    const checked: Record<string, unknown> = {};
    for (const { name, property, check, isUuid } of parts) {
      const text = params[name] ?? "";
      const value = fromText(property, name === "*" && property["x-raw"] !== true ? decodedRest(text) : text);
      // The router gives an empty text for a segment that is not well encoded.
      if ((text === "" && name !== "*") || !check.Check(value) || (typeof value === "string" && value.includes("\0"))) {
        const code = (property["x-code"] as ProblemCode | undefined) ?? "invalid_id";
        throw new Problem(code, (property["x-message"] as string | undefined) ?? "Invalid ID");
      }
      checked[name] = isUuid ? String(value).toLowerCase() : value;
    }
    return checked;
  };
}

/** The router decodes single segments, but leaves the rest of a path as it was sent. */
function decodedRest(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Problem("invalid_id", "The path is not well encoded");
  }
}

/** A query or path text as the schema wants it; what does not convert stays text and fails the check. */
function fromText(schema: TSchema, text: string): unknown {
  if (KindGuard.IsInteger(schema) || KindGuard.IsNumber(schema)) {
    if (text === "") return undefined;
    const written = KindGuard.IsInteger(schema) ? /^-?\d{1,16}$/ : /^-?\d{1,16}(\.\d{1,16})?$/;
    return written.test(text) ? Number(text) : text;
  }
  if (KindGuard.IsBoolean(schema)) {
    if (text === "") return undefined;
    if (text === "true" || text === "1") return true;
    return text === "false" || text === "0" ? false : text;
  }
  return text;
}

/**
 * Takes `null` for an optional member as its absence, at every depth the schema describes. What the schema has to say is
 * read once: a request costs as many look-ups as there are optional members.
 * @returns what changes a value in place; null where there is nothing to do
 */
function withoutNulls(schema: TSchema): ((value: unknown) => void) | null {
  if (KindGuard.IsArray(schema)) {
    const inItem = withoutNulls(schema.items);
    if (inItem === null) return null;
    return (value) => {
      if (Array.isArray(value)) for (const item of value) inItem(item);
    };
  }
  if (!KindGuard.IsObject(schema)) return null;
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties)
    .map(([name, property]) => ({ name, property, isOptional: !required.has(name), inside: withoutNulls(property) }))
    .filter(({ isOptional, inside }) => isOptional || inside !== null);
  if (members.length === 0) return null;
  return (value) => {
    if (!isObject(value)) return;
    const given = value as Record<string, unknown>;
    for (const { name, property, isOptional, inside } of members) {
      if (!Object.hasOwn(given, name)) continue;
      if (given[name] === null && isOptional && !Value.Check(property, null)) delete given[name];
      else inside?.(given[name]);
    }
  };
}

function nulInQuery(name: string): Problem {
  return invalid("validation_failed", "The query is invalid", [
    { path: name, message: "contains a NUL character", code: "invalid" },
  ]);
}

const invalidInput = (check: TypeCheck<TSchema>, value: unknown): Problem =>
  invalidRequest(shapeIssues(check.Errors(value), maxIssues));
