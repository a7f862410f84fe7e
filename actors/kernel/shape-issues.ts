/** What of a value does not fit a TypeBox schema, in words for people: the choices, the bounds, the nearest right name. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { isObject } from "./json.ts";
import { nearest, suggestion } from "./nearest.ts";
import type { Issue } from "./problem.ts";

/** Choices that one sentence lists; of more it says how many there are. */
const maxChoices = 40;

/**
 * One issue for each place, in the order of the schema.
 * @param errors of `Value.Errors` or of a compiled check
 * @param most issues told at once
 */
export function shapeIssues(errors: Iterable<ValueError>, most: number): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of errors) {
    for (const { at, message } of told(error)) {
      const path = dotted(at);
      // Further findings at the same place follow from the first.
      if (!issues.has(path)) issues.set(path, { path, message, code: "invalid" });
    }
    if (issues.size >= most) break;
  }
  return [...issues.values()].slice(0, most);
}

/** Members that a schema does not know, at every depth it describes: what stands there has no effect. */
export function unknownMembers(schema: TSchema, value: unknown, most: number): UnknownMember[] {
  const found: UnknownMember[] = [];
  if (typeof value === "object" && value !== null) collectUnknown(schema, value, "", found, most);
  return found;
}

export interface UnknownMember {
  /** Dotted, rooted at the document. */
  readonly path: string;
  readonly name: string;
  /** The known name it resembles. */
  readonly meant: string | null;
}

interface Told {
  /** A JSON pointer. */
  readonly at: string;
  readonly message: string;
}

function told(error: ValueError): Told[] {
  if (error.type === ValueErrorType.Union) return toldOfUnion(error);
  return [{ at: error.path, message: worded(error) }];
}

/**
 * Of several shapes the one that was meant: its tag fits, or it is the only one of this kind of value. Where none
 * stands out, all kinds are named.
 */
function toldOfUnion(error: ValueError): Told[] {
  const { schema, value, path } = error;
  const options = (schema.anyOf as readonly TSchema[]).flatMap(flattened);
  const choices = options.flatMap((option) => (isWord(option) ? [String(option.const)] : []));
  if (choices.length > 0 && options.every((option) => isWord(option) || KindGuard.IsNull(option))) {
    return [{ at: path, message: oneOf(choices, value) }];
  }
  const alike = options.filter((option) => kindOf(option) === kindOfValue(value));
  const tagged = alike.length > 1 && isObject(value) ? byTag(alike, value, path) : { fitting: alike };
  if ("message" in tagged) return [tagged];
  const [only, ...others] = tagged.fitting;
  if (only !== undefined && others.length === 0) {
    const inside = [...Value.Errors(only, value)].slice(0, 20).flatMap(told);
    return inside.map(({ at, message }) => ({ at: path + at, message }));
  }
  return [{ at: path, message: `must be ${alternatives(options)}` }];
}

const isWord = (schema: TSchema): boolean => KindGuard.IsLiteral(schema);
const flattened = (schema: TSchema): readonly TSchema[] =>
  KindGuard.IsUnion(schema) ? schema.anyOf.flatMap(flattened) : [schema];

/** The objects whose literal members the value has; or what is wrong with the member that tells them apart. */
function byTag(options: readonly TSchema[], value: object, path: string): { fitting: readonly TSchema[] } | Told {
  const objects = options.filter((option) => KindGuard.IsObject(option));
  const tag = Object.keys(objects[0]?.properties ?? {}).find((name) =>
    objects.every(({ properties }) => properties[name] !== undefined && KindGuard.IsLiteral(properties[name])),
  );
  if (tag === undefined) return { fitting: options };
  const given = Object.hasOwn(value, tag) ? (value as Record<string, unknown>)[tag] : undefined;
  const choices = objects.map(({ properties }) => properties[tag]?.const as unknown);
  const fitting = objects.filter((_, index) => choices[index] === given);
  if (fitting.length > 0) return { fitting };
  return { at: `${path}/${tag}`, message: oneOf([...new Set(choices.map(String))], given) };
}

function oneOf(choices: readonly string[], given: unknown): string {
  const listed = choices.slice(0, maxChoices).join(", ");
  const more = choices.length > maxChoices ? ` (and ${choices.length - maxChoices} more)` : "";
  const [only] = choices;
  if (choices.length === 1) return `must be ${only}`;
  return `must be one of ${listed}${more}${typeof given === "string" ? suggestion(given, choices) : ""}`;
}

function alternatives(options: readonly TSchema[]): string {
  const names = [...new Set(options.map(nameOf))];
  return names.length < 2 ? (names[0] ?? "another value") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

const names: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

const nameOf = (schema: TSchema): string =>
  KindGuard.IsLiteral(schema) ? JSON.stringify(schema.const) : (names[String(schema.type)] ?? "another value");

function kindOf(schema: TSchema): string {
  if (KindGuard.IsLiteral(schema)) return `${typeof schema.const} literal`;
  return schema.type === "integer" ? "number" : String(schema.type);
}

function kindOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function worded({ type, schema, value, path, message }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return `is not known here${suggestion(path.slice(path.lastIndexOf("/") + 1), Object.keys(schema.properties ?? {}))}`;
    case ValueErrorType.ObjectMinProperties:
      return `must have at least ${schema.minProperties} members`;
    case ValueErrorType.ObjectMaxProperties:
      return `may have at most ${schema.maxProperties} members`;
    case ValueErrorType.ArrayMinItems:
      return schema.minItems === 1 ? "must not be empty" : `must have at least ${schema.minItems} elements`;
    case ValueErrorType.ArrayMaxItems:
      return `may have at most ${schema.maxItems} elements`;
    case ValueErrorType.ArrayUniqueItems:
      return "must not hold the same element twice";
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1 ? "must not be empty" : `must have at least ${schema.minLength} characters`;
    case ValueErrorType.StringMaxLength:
      return `may have at most ${schema.maxLength} characters`;
    case ValueErrorType.StringFormat:
      return `must be ${formats[String(schema.format)] ?? `a ${schema.format}`}`;
    case ValueErrorType.StringPattern:
      return `must match ${schema.pattern}`;
    case ValueErrorType.Literal:
      return oneOf([String(schema.const)], value);
    case ValueErrorType.IntegerMultipleOf:
    case ValueErrorType.NumberMultipleOf:
      return `must be a multiple of ${schema.multipleOf}`;
    default:
      return ofType(schema) ?? (path === "" ? "does not fit" : message.charAt(0).toLowerCase() + message.slice(1));
  }
}

const formats: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  "date-time": "a time such as 2031-05-02T06:00:09Z",
  uri: "a URL",
  email: "an email address",
};

/** For numbers with the bounds: who is over one learns the other as well. */
function ofType(schema: TSchema): string | null {
  const name = names[String(schema.type)];
  if (name === undefined) return null;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `must be ${name} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `must be ${name} of at least ${minimum}`;
  if (maximum !== undefined) return `must be ${name} of at most ${maximum}`;
  if (exclusiveMinimum !== undefined) return `must be ${name} above ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined) return `must be ${name} below ${exclusiveMaximum}`;
  return `must be ${name}`;
}

const dotted = (pointer: string): string =>
  pointer.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

function collectUnknown(schema: TSchema, value: object, at: string, found: UnknownMember[], most: number): void {
  if (Array.isArray(value)) {
    if (!KindGuard.IsArray(schema)) return;
    for (let index = 0; index < value.length && found.length < most; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null)
        collectUnknown(schema.items, item, place(at, `${index}`), found, most);
    }
    return;
  }
  const known = membersOf(schema);
  if (known === null) return;
  for (const name of Object.keys(value)) {
    if (found.length >= most) return;
    const inside = known.get(name);
    const member = (value as Record<string, unknown>)[name];
    if (inside === undefined) {
      found.push({ path: place(at, shown(name)), name: shown(name), meant: nearest(name, known.keys()) });
    } else if (inside !== null && typeof member === "object" && member !== null) {
      collectUnknown(inside, member, place(at, shown(name)), found, most);
    }
  }
}

type Members = ReadonlyMap<string, TSchema | null>;

/** Schemas are read once: each request is held against the same ones. */
const membersKnown = new WeakMap<TSchema, { readonly members: Members | null }>();

/**
 * The members a value may have, and the schema of each; null instead of that where several shapes have the member, since
 * what it may hold is not clear then.
 * @returns null where the schema leaves members open
 */
function membersOf(schema: TSchema): Members | null {
  const earlier = membersKnown.get(schema);
  if (earlier !== undefined) return earlier.members;
  const members = readMembers(schema);
  membersKnown.set(schema, { members });
  return members;
}

function readMembers(schema: TSchema): Members | null {
  const shapes = objectsOf(schema);
  if (shapes === null) return null;
  const members = new Map<string, TSchema | null>();
  for (const [name, inside] of shapes.flatMap(({ properties }) => Object.entries(properties))) {
    members.set(name, members.has(name) ? null : inside);
  }
  return members;
}

const place = (at: string, name: string): string => (at === "" ? name : `${at}.${name}`);

/** A name of the caller's, fit for a path. */
const shown = (name: string): string => (name.length > 80 ? `${name.slice(0, 80)}…` : name).toWellFormed();

/** The objects a value may be; null where the schema leaves members open. */
function objectsOf(schema: TSchema): readonly TObject[] | null {
  if (KindGuard.IsObject(schema)) return schema.additionalProperties === undefined ? [schema] : null;
  if (KindGuard.IsIntersect(schema)) return together(schema.allOf);
  if (KindGuard.IsUnion(schema)) {
    const some = schema.anyOf.filter((option) => !isScalar(option));
    return some.length === 0 ? null : together(some);
  }
  return null;
}

function together(schemas: readonly TSchema[]): readonly TObject[] | null {
  const all = schemas.map(objectsOf);
  return all.every((each) => each !== null) ? all.flat() : null;
}

const isScalar = (schema: TSchema): boolean =>
  ["string", "number", "integer", "boolean", "null", "array"].includes(String(schema.type));
