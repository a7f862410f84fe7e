/**
 * The shape of a manifest's parts, declared once: kind, bounds, default and rules of each member. What reads a
 * manifest (with every finding), its JSON Schema and the places where YAML keeps text all follow from it.
 *
 * `T` is what a member is read as, null where it is absent or wrong. `S` is what its rules need to know beside the
 * value: what the node offers, for example.
 */
import type { Json } from "../kernel/json.ts";
import { isObject } from "../kernel/json.ts";
import type { Fields, NumberBounds, TextBounds } from "./fields.ts";
import { mergedTextPaths, type TextPaths, textPath } from "./text-paths.ts";

export type JsonSchema = { readonly [keyword: string]: Json };
/** The `$defs` of a schema under construction. */
export type Definitions = Map<string, JsonSchema>;

/** What is wrong with a value, as the end of a sentence about it, with a code; false: it is told already. */
export type Fault = string | readonly [message: string, code: string] | false | null;

export interface Declared<T, S> {
  /** Reads one member; what is wrong goes to the findings. */
  readonly read: (fields: Fields, key: string, scope: S) => T;
  /** Of the value where it is present. */
  readonly schema: (definitions: Definitions) => JsonSchema;
  readonly texts: TextPaths | null;
  /** What is said of an element of a list that is something else. */
  readonly expected: string;
  readonly isRequired?: boolean;
  readonly isRead?: (before: Readonly<Record<string, unknown>>) => boolean;
}

export class Shape<T, S = unknown> {
  constructor(readonly declared: Declared<T, S>) {}

  /** The member must be there. */
  required(message = "is required"): Shape<T | null, S> {
    const { read } = this.declared;
    return this.with(
      (fields, key, scope) => (fields.has(key) ? read(fields, key, scope) : fields.issue(key, message)),
      {
        isRequired: true,
      },
    );
  }

  /** What stands for a member that is absent, or wrong. */
  or<const D extends Json>(value: D): Shape<NonNullable<T> | D, S> {
    const { read, schema, isRequired = false } = this.declared;
    const standard = (definitions: Definitions) =>
      isRequired ? schema(definitions) : { ...schema(definitions), default: value };
    return this.with((fields, key, scope) => read(fields, key, scope) ?? value, { schema: standard });
  }

  /** A further rule. */
  check<R = unknown>(
    rule: (value: NonNullable<T>, scope: R, fields: Fields, key: string) => Fault,
  ): Shape<T | null, S & R> {
    const { read } = this.declared;
    return this.with((fields, key, scope: S & R) => {
      const value = read(fields, key, scope);
      return value === null || value === undefined || tell(fields, key, rule(value, scope, fields, key)) ? value : null;
    });
  }

  /** A rule for what is written, before any of it is read. */
  guard(rule: (written: Json) => Fault): Shape<T | null, S> {
    const { read } = this.declared;
    return this.with((fields, key, scope) =>
      tell(fields, key, rule(fields.raw(key))) ? read(fields, key, scope) : null,
    );
  }

  /** What the rest of the service makes of the value. */
  as<U, R = unknown>(
    convert: (value: NonNullable<T>, scope: R, fields: Fields, key: string) => U,
  ): Shape<U | (null extends T ? null : never), S & R> {
    const { read } = this.declared;
    type Result = U | (null extends T ? null : never);
    return this.with((fields, key, scope: S & R) => {
      const value = read(fields, key, scope);
      return (value === null || value === undefined ? null : convert(value, scope, fields, key)) as Result;
    });
  }

  /** Only read where the members before it ask for it; elsewhere it has no effect, and its author is told so. */
  when(isRead: (before: Readonly<Record<string, unknown>>) => boolean): Shape<T | null, S> {
    return this.with<T | null, S>(this.declared.read, { isRead });
  }

  /** The JSON Schema, where the kind alone says too little. */
  schema(schema: JsonSchema): Shape<T, S> {
    return this.with(this.declared.read, { schema: () => schema });
  }

  /** Stands under `$defs` of the JSON Schema. */
  named(name: string): Shape<T, S> {
    const { schema } = this.declared;
    return this.with(this.declared.read, {
      schema: (definitions) => {
        if (!definitions.has(name)) definitions.set(name, schema(definitions));
        return { $ref: `#/$defs/${name}` };
      },
    });
  }

  private with<U, R extends S>(
    read: Declared<U, R>["read"],
    changes: Partial<Omit<Declared<U, R>, "read">> = {},
  ): Shape<U, R> {
    const { schema, texts, expected, isRequired = false, isRead } = this.declared;
    return new Shape<U, R>({
      schema,
      texts,
      expected,
      isRequired,
      ...(isRead === undefined ? {} : { isRead }),
      ...changes,
      read,
    });
  }
}

/** Adds the issue, if there is one. */
function tell(fields: Fields, key: string, fault: Fault): boolean {
  if (typeof fault === "string") fields.issue(key, fault);
  else if (fault) fields.issue(key, fault[0], fault[1]);
  return fault === null;
}

/** Any value. */
export const anything = new Shape<Json>({
  read: (fields, key) => fields.raw(key),
  schema: () => ({}),
  texts: null,
  expected: "",
});

/** Any value; a scalar is text. */
export const anyInput = new Shape<Json>({ ...anything.declared, texts: textPath });

export function text(bounds: TextBounds = {}): Shape<string | null> {
  return new Shape({
    read: (fields, key) => fields.text(key, bounds),
    schema: () => textSchema(bounds),
    texts: textPath,
    expected: "must be a string",
  });
}

function textSchema({ min = 0, max, pattern, form }: TextBounds): JsonSchema {
  return {
    type: "string",
    ...(min > 0 ? { minLength: min } : {}),
    ...(max === undefined ? {} : { maxLength: max }),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    ...(form === undefined ? {} : { $comment: form }),
  };
}

export function choice<const T extends string>(...options: readonly T[]): Shape<T | null> {
  return new Shape<T | null>({
    read: (fields, key) => fields.choice(key, options),
    schema: () => ({ enum: options }),
    texts: textPath,
    expected: `must be one of ${options.join(", ")}`,
  });
}

export const integer = (min: number, max: number): Shape<number | null> => numeric("integer", { min, max });
export const number = (min: number, max: number): Shape<number | null> => numeric("number", { min, max });
export const share = number(0, 1);

function numeric(type: "integer" | "number", bounds: NumberBounds): Shape<number | null> {
  return new Shape({
    read: (fields, key) => fields[type](key, bounds),
    schema: () => ({ type, minimum: bounds.min, maximum: bounds.max }),
    texts: null,
    expected: "must be a number",
  });
}

/** @param absent what stands for a flag that is absent */
export function flag(absent = false): Shape<boolean> {
  return new Shape({
    read: (fields, key) => fields.flag(key, absent),
    schema: () => ({ type: "boolean", default: absent }),
    texts: null,
    expected: "must be true or false",
  });
}

/** A number with a notation of its own, as `1h30m`. */
export interface Notation {
  /** Null: unreadable. */
  readonly read: (value: unknown) => number | null;
  /** Completes "must be …", with examples. */
  readonly what: string;
  readonly schema: JsonSchema;
}

export interface MeasureBounds extends NumberBounds {
  /** Completes "must be from …". */
  readonly said: string;
}

/** @param bounds what they depend on, if anything, is known when the member is read */
export function measure<S = unknown>(
  notation: Notation,
  bounds: MeasureBounds | ((scope: S) => MeasureBounds),
): Shape<number | null, S> {
  return new Shape<number | null, S>({
    read: (fields, key, scope) =>
      fields.measure(key, notation.read, notation.what, typeof bounds === "function" ? bounds(scope) : bounds),
    schema: () => notation.schema,
    texts: null,
    expected: `must be ${notation.what}`,
  });
}

/** A map of text to text. */
export function pairs<S = unknown>(
  max: number,
  bounds: { readonly key: TextBounds; readonly value: TextBounds },
  rule: (name: string, value: string, scope: S, fields: Fields, path: string) => Fault = () => null,
): Shape<Readonly<Record<string, string>>, S> {
  return new Shape<Readonly<Record<string, string>>, S>({
    read: (fields, key, scope) =>
      fields.pairs(key, max, bounds, (name, value, path) => tell(fields, path, rule(name, value, scope, fields, path))),
    schema: () => ({
      type: "object",
      maxProperties: max,
      propertyNames: textSchema(bounds.key),
      additionalProperties: textSchema(bounds.value),
    }),
    texts: { each: textPath },
    expected: "must be an object",
  });
}

/**
 * @param empty what is said of a list without elements; absent: there may be none
 * @param among adds issues about an element in the light of those before it; it stands in `fields` at `position`
 */
export function list<T, S>(
  { declared }: Shape<T, S>,
  max: number,
  empty: string | null = null,
  among: (
    value: NonNullable<T>,
    before: readonly NonNullable<T>[],
    fields: Fields,
    position: string,
  ) => void = () => {},
): Shape<readonly NonNullable<T>[] | null, S> {
  const { read, texts, schema, expected } = declared;
  return new Shape<readonly NonNullable<T>[] | null, S>({
    read: (fields, key, scope) => {
      const elements = fields.list(key, max);
      if (elements?.length === 0 && empty !== null) fields.issue(key, empty);
      if (elements === null) return null;
      const positions = fields.elements(key, elements);
      const values: NonNullable<T>[] = [];
      for (const [index, element] of elements.entries()) {
        if (element === null) positions.issue(`${index}`, expected);
        const value = element === null ? null : read(positions, `${index}`, scope);
        if (value === null || value === undefined) continue;
        among(value, values, positions, `${index}`);
        values.push(value);
      }
      return values;
    },
    schema: (definitions) => ({
      type: "array",
      ...(empty === null ? {} : { minItems: 1 }),
      maxItems: max,
      items: schema(definitions),
    }),
    texts: texts === null ? null : { each: texts },
    expected: "must be a list",
  });
}

type JsonType = "string" | "array" | "object";

/** One of several shapes, told apart by what kind of value it is. */
export function either<const M extends object>(
  expected: string,
  shapes: M & { readonly [K in keyof M]: K extends JsonType ? unknown : never },
): Shape<ReadOf<M>[keyof M] | null, ScopeOf<M>> {
  const table = shapes as Partial<Record<JsonType, AnyShape>>;
  const all = Object.values(table);
  return new Shape<ReadOf<M>[keyof M] | null, ScopeOf<M>>({
    read: (fields, key, scope) => {
      const value = fields.raw(key);
      if (value === null) return null;
      const shape: AnyShape | undefined = table[typeOf(value)];
      if (shape === undefined) return fields.issue(key, expected);
      return shape.declared.read(fields, key, scope as never) as ReadOf<M>[keyof M];
    },
    schema: (definitions) => ({ anyOf: all.map((shape) => shape.declared.schema(definitions)) }),
    texts: all.map(({ declared }) => declared.texts).reduce(mergedTextPaths, null),
    expected,
  });
}

const typeOf = (value: Json): JsonType =>
  Array.isArray(value) ? "array" : isObject(value) ? "object" : (typeof value as JsonType);

export type AnyShape = Shape<unknown, never>;
/**
 * What the members of an object are declared with. Functions that take them ask for `object` only: a constraint would
 * take part in the inference of what the rules need to know.
 */
export type Members = Readonly<Record<string, AnyShape>>;
/** What members are read as, under their names. */
export type ReadOf<M> = { readonly [K in keyof M]: M[K] extends Read<infer T> ? T : never };
interface Read<T> {
  readonly declared: { readonly read: (fields: Fields, key: string, scope: never) => T };
}
/** All that the rules of some members need to know. */
export type ScopeOf<M> = M[keyof M] extends { readonly declared: { readonly read: Reader<infer S> } } ? S : never;
type Reader<S> = (fields: Fields, key: string, scope: S) => unknown;
