/**
 * Selectors: which hosts are meant, by what is known of them. All fields must hold; an absent one asks for nothing.
 * A member that is not known is refused, since a misspelt one would widen the selection.
 */
import { type Static, Type } from "@sinclair/typebox";
import { invalidField } from "../kernel/problem.ts";
import { Nullable, Text } from "../kernel/schema.ts";
import { isStorable } from "../manifest/storable.ts";
import { folded, machineOf, systemOf } from "./words.ts";

const LabelTerm = Type.Union([
  Type.Object({ Equals: Type.Record(Text, Text) }),
  Type.Object({ Exists: Text }),
  Type.Object({ In: Type.Record(Text, Type.Array(Text)) }),
]);
export type LabelTerm = Static<typeof LabelTerm>;

const TagTerm = Type.Union([
  Type.Object({ Has: Text }),
  Type.Object({ AnyOf: Type.Array(Text) }),
  Type.Object({ AllOf: Type.Array(Text) }),
  Type.Object({ NoneOf: Type.Array(Text) }),
]);
export type TagTerm = Static<typeof TagTerm>;

/** As it is kept and shown. */
export const Selector = Type.Object({
  os: Nullable(Text),
  arch: Nullable(Text),
  tools: Type.Array(Text),
  labels: Type.Array(LabelTerm),
  tags: Type.Array(TagTerm),
});
export type Selector = Static<typeof Selector>;

/** Terms of one field, and members of one list in them. */
const maxTerms = 64;
const maxMembers = 256;
const maxText = 256;

/** Reads any of its written forms. @param path of the selector in the request @throws Problem 422 */
export function readSelector(value: unknown, path: string): Selector {
  const fields = membersOf(value, path);
  const selector: { -readonly [K in keyof Selector]: Selector[K] } = {
    os: null,
    arch: null,
    tools: [],
    labels: [],
    tags: [],
  };
  for (const [name, field, at] of fields) {
    if (!Object.hasOwn(selector, name)) throw invalidField(at, "is no member of a selector", "unknown");
    if (field === null) continue;
    if (name === "os") selector.os = platform(field, at, systemOf, "linux or macos");
    if (name === "arch") selector.arch = platform(field, at, machineOf, "x86_64 or aarch64");
    if (name === "tools") selector.tools = texts(field, at, maxTerms);
    if (name === "labels") selector.labels = terms(field, at, labelTerms, labelText);
    if (name === "tags") selector.tags = terms(field, at, tagTerms, tagText);
  }
  return selector;
}

type Term<T> = (value: unknown, at: string) => T;
type Terms<T> = Readonly<Record<string, { readonly one: Term<T>; readonly each: (value: unknown, at: string) => T[] }>>;

const pair = (value: unknown, at: string): readonly [string, unknown] => {
  if (Array.isArray(value)) {
    if (value.length !== 2) throw invalidField(at, "must be a name and what it is compared with");
    return [text(value[0], `${at}.0`), value[1]];
  }
  const [only, ...more] = membersOf(value, at, false);
  if (only === undefined || more.length > 0) throw invalidField(at, "must have one member");
  return [text(only[0], at), only[1]];
};
const equals = (key: string, value: unknown, at: string): LabelTerm => ({ Equals: { [key]: text(value, at) } });
const within = (key: string, values: unknown, at: string): LabelTerm => ({ In: { [key]: texts(values, at) } });

const labelTerms: Terms<LabelTerm> = {
  equals: {
    one: (value, at) => equals(...pair(value, at), at),
    each: (value, at) => list(value, at).map((item, index) => keyed(item, `${at}.${index}`, "value", equals)),
  },
  exists: {
    one: (value, at) => ({ Exists: text(value, at) }),
    each: (value, at) => texts(value, at, maxTerms).map((key) => ({ Exists: key })),
  },
  in: {
    one: (value, at) => within(...pair(value, at), at),
    each: (value, at) => list(value, at).map((item, index) => keyed(item, `${at}.${index}`, "values", within)),
  },
};

/** `{key, value}` or `{key, values}`. */
function keyed<T>(item: unknown, at: string, other: string, make: (key: string, value: unknown, at: string) => T): T {
  const members = new Map(membersOf(item, at).map(([name, value]) => [name, value]));
  for (const name of members.keys())
    if (name !== "key" && name !== other) throw invalidField(`${at}.${name}`, "is unknown here", "unknown");
  return make(text(members.get("key"), `${at}.key`), members.get(other), `${at}.${other}`);
}

const tagTerms: Terms<TagTerm> = {
  has: {
    one: (value, at) => ({ Has: text(value, at) }),
    each: (value, at) => texts(value, at, maxTerms).map((tag) => ({ Has: tag })),
  },
  anyof: listTerm((tags) => ({ AnyOf: tags })),
  allof: listTerm((tags) => ({ AllOf: tags })),
  noneof: listTerm((tags) => ({ NoneOf: tags })),
};

function listTerm(make: (tags: string[]) => TagTerm): Terms<TagTerm>[string] {
  return { one: (value, at) => make(texts(value, at)), each: (value, at) => [make(texts(value, at))] };
}

const tagText = (tag: string): TagTerm => ({ Has: tag });
function labelText(label: string, at: string): LabelTerm {
  const split = label.indexOf("=");
  if (split <= 0) throw invalidField(at, "must be name=value");
  return { Equals: { [label.slice(0, split)]: label.slice(split + 1) } };
}

/** A list of terms, or an object with lists of each kind. */
function terms<T>(value: unknown, at: string, known: Terms<T>, shorthand: (text: string, at: string) => T): T[] {
  const termOf = (name: string, path: string) => {
    const word = folded(name);
    const term = Object.hasOwn(known, word) ? known[word] : undefined;
    if (term === undefined) throw invalidField(path, "is unknown here", "unknown");
    return term;
  };
  const all = Array.isArray(value)
    ? list(value, at).map((item, index) => {
        const path = `${at}.${index}`;
        if (typeof item === "string") return shorthand(text(item, path), path);
        const [only, ...more] = membersOf(item, path);
        if (only === undefined || more.length > 0) throw invalidField(path, "must have one member");
        return termOf(only[0], only[2]).one(only[1], only[2]);
      })
    : membersOf(value, at).flatMap(([name, each, path]) => termOf(name, path).each(each, path));
  if (all.length > maxTerms) throw invalidField(at, `must have at most ${maxTerms} terms`);
  return all;
}

/** Members of an object with the path of each. @param fold whether their names are words of the protocol */
function membersOf(value: unknown, at: string, fold = true): readonly (readonly [string, unknown, string])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidField(at, "must be an object");
  if (Object.keys(value).length > maxMembers) throw invalidField(at, "has too many members");
  const members = Object.entries(value).map(([name, member]) => {
    const shown = isStorable(name) ? name.slice(0, maxText) : "?";
    return [fold ? name.toLowerCase() : name, member, `${at}.${shown}`] as const;
  });
  const twice = members.find(([name], place) => members.findIndex((other) => other[0] === name) !== place);
  if (twice !== undefined) throw invalidField(twice[2], "is there twice");
  return members;
}

function list(value: unknown, at: string, most = maxTerms): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidField(at, "must be a list");
  if (value.length > most) throw invalidField(at, `must have at most ${most} items`);
  return value;
}

const texts = (value: unknown, at: string, most = maxMembers): string[] =>
  list(value, at, most).map((item, index) => text(item, `${at}.${index}`));

function text(value: unknown, at: string): string {
  if (typeof value !== "string" || value.length > maxText || !isStorable(value))
    throw invalidField(at, `must be a text of at most ${maxText} characters`);
  return value;
}

function platform(value: unknown, at: string, read: (text: string) => string | null, known: string): string {
  const name = typeof value === "string" ? read(value) : null;
  if (name === null) throw invalidField(at, `must be ${known}`);
  return name;
}
