/** Reading of what people write in targets and policies: words in any spelling, members that must be known. */
import { invalidField } from "../kernel/problem.ts";
import { isStorable } from "../manifest/storable.ts";
import { folded } from "./words.ts";

/** A member as it was written, and where. */
export interface Written {
  readonly value: unknown;
  readonly path: string;
}

const maxMembers = 64;
const maxShown = 64;

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Members of an object by their names in one spelling; those that are null are left out.
 * @param known names in one spelling; others are refused, since a misspelt one would mean something else
 * @throws Problem 422
 */
export function readMembers(value: unknown, path: string, known: ReadonlySet<string>): ReadonlyMap<string, Written> {
  if (!isRecord(value)) throw invalidField(path, "must be an object");
  const names = Object.keys(value);
  if (names.length > maxMembers) throw invalidField(path, "has too many members");
  const members = new Map<string, Written>();
  for (const name of names) {
    const word = folded(name);
    const at = `${path}.${shown(name)}`;
    if (!known.has(word)) throw invalidField(at, unknownAmong(known), "unknown");
    if (members.has(word)) throw invalidField(at, "is there twice");
    members.set(word, { value: value[name], path: at });
  }
  for (const [word, { value: member }] of members) if (member === null) members.delete(word);
  return members;
}

const shown = (name: string): string => (isStorable(name) ? name.slice(0, maxShown) : "?");

/**
 * A word, or an object with a word and what belongs to it: `"All"`, `{"Rolling": {…}}`, `{"kind": "rolling", …}`.
 * @returns the word in one spelling; what belongs to it, which is the object itself in the last form
 * @throws Problem 422
 */
export function readTagged(
  value: unknown,
  path: string,
  known: ReadonlySet<string>,
): { readonly word: string; readonly of: Written; readonly form: "word" | "member" | "kind" } {
  if (typeof value === "string") return { word: wordOf(value, path, known), of: { value: null, path }, form: "word" };
  if (!isRecord(value)) throw invalidField(path, `must be one of ${[...known].join(", ")}`);
  const names = Object.keys(value);
  const kind = names.find((name) => folded(name) === "kind");
  if (kind !== undefined) {
    const { [kind]: word, ...rest } = value;
    return { word: wordOf(word, `${path}.${kind}`, known), of: { value: rest, path }, form: "kind" };
  }
  const [only, ...more] = names;
  if (only === undefined || more.length > 0) throw invalidField(path, "must have one member");
  const at = `${path}.${shown(only)}`;
  return { word: wordOf(only, at, known), of: { value: value[only], path: at }, form: "member" };
}

function wordOf(value: unknown, path: string, known: ReadonlySet<string>): string {
  const word = typeof value === "string" ? folded(value.slice(0, maxShown)) : "";
  if (!known.has(word)) throw invalidField(path, unknownAmong(known), "unknown");
  return word;
}

const unknownAmong = (known: ReadonlySet<string>): string =>
  known.size === 0 ? "is unknown here" : `is unknown here, where there may be ${[...known].join(", ")}`;

/** @throws Problem 422 */
export function readInteger({ value, path }: Written, min: number, max: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidField(path, `must be an integer from ${min} to ${max}`);
}

/** @throws Problem 422 */
export function readBoolean({ value, path }: Written): boolean {
  if (typeof value === "boolean") return value;
  throw invalidField(path, "must be true or false");
}

/** A number of targets, or a part of them: `3`, `"25%"`. */
export type Share = number | string;

/** @throws Problem 422 */
export function readShare({ value, path }: Written, max: number): Share {
  if (typeof value === "string" && /^([1-9]\d?|100)%$/.test(value)) return value;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidField(path, `must be an integer from 1 to ${max}, or a part of all: "1%", "25%", "100%"`);
}

/** How many of so many a share is, rounded up. */
export const sharesOf = (share: Share, all: number): number =>
  typeof share === "number" ? share : Math.ceil((Number.parseInt(share, 10) * all) / 100);
