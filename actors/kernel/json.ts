/** JSON values of any shape: their schemas, and how to tell, copy and read one. */
import { Type } from "@sinclair/typebox";

/** Anything JSON can carry. State, messages, replies and events are made of nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A deep copy of JSON data: what `structuredClone` does for it, at a tenth of the price. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  // Spread makes members of their own of all names, so that `__proto__` is one as well when it is set below.
  const copy = { ...value } as Record<string, unknown>;
  for (const key in copy) {
    const member = copy[key];
    if (typeof member === "object" && member !== null) copy[key] = copyOf(member);
  }
  return copy as T;
}

/** Whether two JSON values are alike; the order of members does not count, and one that is undefined is none. */
export function isAlike(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item: Json, at) => isAlike(item, other[at] as Json));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isAlike(memberOf(one, name), memberOf(other, name)));
}

const memberOf = (value: { readonly [key: string]: Json }, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Any JSON value. */
export const AnyJson = Type.Unsafe<Json>(Type.Any());

/** Any JSON object. */
export const JsonObject = Type.Record(Type.String(), AnyJson);

/** Whether a JSON value is an object: neither a list nor null. */
export function isObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** How deep a value in an untrusted text may nest; as deep as a request's body. */
const maxDepth = 256;

/**
 * A text that is a JSON object or array, as that value; any other text as it is. So is one that nests deeper than
 * a request may: a value that deep cannot be handled everywhere.
 */
export function jsonOrText(text: string): Json {
  const first = text.trimStart()[0];
  if ((first !== "{" && first !== "[") || nestsDeeper(text, maxDepth)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Whether the brackets of a JSON text nest deeper; those in strings do not count. */
export function nestsDeeper(text: string, deepest: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text.charCodeAt(at);
    if (mark === quote) at = closingQuote(text, at + 1);
    else if (mark === openList || mark === openObject) depth += 1;
    else if (mark === closeList || mark === closeObject) depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

const quote = 0x22;
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where the string that begins at `from` ends; a string without end takes up the rest. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
