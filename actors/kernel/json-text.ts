/** The JSON of values that hold the same large text, or the same large value, several times: each is written once. */
import type { Json } from "./json.ts";

/** Characters of a text from which on it is worth to be remembered. */
const largeSize = 16 * 1024;

/** Large texts and values, each with its JSON. To be kept for as long as one commit is put together. */
export type KnownTexts = (readonly [value: string | object, text: string])[];

/**
 * The same text as `JSON.stringify`.
 * @param levels how deep large texts are looked for; without one, nothing is remembered
 * @param known what was written before, and is added to
 * @param large characters from which on a text is remembered
 */
export function jsonText(value: Json, levels = 2, known: KnownTexts = [], large = largeSize): string {
  return holdsLarge(value, levels, large) ? textOf(value, levels + 1, known, large) : JSON.stringify(value);
}

function holdsLarge(value: Json | undefined, levels: number, large: number): boolean {
  if (typeof value === "string") return value.length > large;
  if (levels === 0 || !isPlain(value)) return false;
  for (const name in value) if (holdsLarge(value[name], levels - 1, large)) return true;
  return false;
}

function textOf(value: Json, levels: number, known: KnownTexts, large: number): string {
  const isText = typeof value === "string";
  if (isText ? value.length <= large : value === null || typeof value !== "object") return JSON.stringify(value);
  const before = known.find(([one]) => one === value);
  if (before !== undefined) return before[1];
  const text = !isText && levels > 0 && isPlain(value) ? membersOf(value, levels, known, large) : JSON.stringify(value);
  if (text.length > large) known.push([value as string | object, text]);
  return text;
}

function membersOf(
  value: { readonly [name: string]: Json | undefined },
  levels: number,
  known: KnownTexts,
  large: number,
): string {
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${textOf(member, levels - 1, known, large)}`);
  }
  return `{${members.join(",")}}`;
}

const isPlain = (value: Json | undefined): value is { readonly [name: string]: Json | undefined } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
