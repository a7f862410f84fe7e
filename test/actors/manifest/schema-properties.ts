/** Generators for tests that hold a manifest's reader and its JSON Schema together. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { isObject, type Json } from "../../../actors/kernel/json.ts";

type Path = readonly string[];

export const schemaOf = (schema: Json): ValidateFunction =>
  new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true }).compile(
    schema as object,
  );

/** Where a document does not conform; empty when it does. */
export function conforms(schema: ValidateFunction, document: Json): readonly string[] {
  return schema(document) ? [] : (schema.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

/** The document with a few of its members removed or null. */
export const someMembers = (document: Json): fc.Arbitrary<Json> => {
  const paths = pathsOf(document).filter((path) => path.length > 1);
  return fc
    .array(fc.tuple(fc.constantFrom(...paths), fc.boolean()), { maxLength: 4 })
    .map((changes) => changes.reduce((whole, [path, gone]) => changed(whole, path, gone ? undefined : null), document));
};

/**
 * The document with one value replaced by one of another kind.
 * @param free members that may be anything, and those whose bounds depend on others, which the schema leaves open
 */
export function someFault(document: Json, free: readonly string[]): fc.Arbitrary<Json> {
  const bound = pathsOf(document).filter((path) => !path.some((key) => free.includes(key)));
  return fc.constantFrom(...bound).map((path) => {
    const isPlural = typeof at(document, path) === "object";
    return changed(document, path, isPlural ? 7 : [7]);
  });
}

const at = (value: Json, path: Path): Json =>
  path.reduce<Json>((holder, key) => (holder as { readonly [key: string]: Json })[key] ?? null, value);

function pathsOf(value: Json, path: Path = []): Path[] {
  const children = value !== null && typeof value === "object" ? Object.entries(value) : [];
  return children.flatMap(([key, child = null]) => [[...path, key], ...pathsOf(child, [...path, key])]);
}

/** A copy with the value at the path replaced; undefined removes it. A path that leads nowhere changes nothing. */
function changed(whole: Json, [key, ...rest]: Path, value: Json | undefined): Json {
  if (key === undefined) return value ?? null;
  if (Array.isArray(whole)) {
    if (rest.length === 0 && value === undefined) return whole.filter((_, index) => `${index}` !== key);
    return whole.map((child: Json, index) => (`${index}` === key ? changed(child, rest, value) : child));
  }
  if (!isObject(whole) || !Object.hasOwn(whole, key)) return whole;
  const { [key]: child = null, ...others } = whole;
  return rest.length === 0 && value === undefined ? others : { ...others, [key]: changed(child, rest, value) };
}
