/**
 * Arguments of a tool call as people are shown them: without characters that change what a reader sees, cut to a size,
 * with the values of secrets left out. And the way back: an edit in which what was shown so stands for the original.
 */
import { isObject, type Json } from "../kernel/json.ts";

/** Stands where the value of a secret was left out. */
export const redactedMark = "[redacted]";

/** Everything that controls a terminal, turns the direction of a text or is not seen at all; line ends and tabs are seen. */
const misleading = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A character as `\uXXXX`, one beyond U+FFFF as `\u{XXXXX}`. */
function escapeOf(character: string): string {
  if (character === "\n" || character === "\t") return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** The text with its control, bidirectional and invisible characters escaped. */
export const escapedText = (text: string): string => text.replace(misleading, escapeOf);

/** The same for every text of a JSON value, names of members included. */
export function escapedJson(value: Json): Json {
  if (typeof value === "string") return escapedText(value);
  if (Array.isArray(value)) return value.map(escapedJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [escapedText(name), escapedJson(member)]));
}

/** Bytes of JSON text of arguments that an approval shows. */
export const maxShownBytes = 65_536;
/** Bytes of a model's words. */
export const maxReasonBytes = 2048;

/** The start of a text, at most `limit` bytes of UTF-8, without half a character at its end. */
export function startOf(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** What fits is shown as it is; of what does not, the start of its JSON text. */
export function cutArguments(shown: Json): { readonly arguments: Json; readonly truncated: boolean } {
  const text = JSON.stringify(shown);
  const start = startOf(text, maxShownBytes);
  return start.length === text.length ? { arguments: shown, truncated: false } : { arguments: start, truncated: true };
}

export interface Restored {
  readonly value: Json;
  /** Where `[redacted]` stands for nothing that was left out there. */
  readonly faults: readonly string[];
}

/**
 * The arguments that an edit means: what stands in it as it was shown is the original, and `[redacted]` in a text is what
 * was left out there.
 * @param shown the redacted and escaped form of `given`
 */
export function restored(edit: Json, shown: Json, given: Json): Restored {
  const faults: string[] = [];
  const value = restore(edit, shown, given, "", faults);
  return { value, faults };
}

function restore(
  edit: Json | undefined,
  shown: Json | undefined,
  given: Json | undefined,
  path: string,
  faults: string[],
): Json {
  if (edit === undefined) return null;
  if (shown !== undefined && given !== undefined && sameJson(edit, shown)) return given;
  if (typeof edit === "string") return restoreText(edit, shown, given, path, faults);
  if (Array.isArray(edit)) {
    const [were, originals] = [Array.isArray(shown) ? shown : [], Array.isArray(given) ? given : []];
    return (edit as readonly Json[]).map((item, place) =>
      restore(item, were[place], originals[place], `${path}.${place}`, faults),
    );
  }
  if (!isObject(edit)) return edit;
  const names = namesBehind(shown, given);
  const members = Object.entries(edit).map(([name, member]): [string, Json] => {
    const original = names.get(name);
    const at = `${path}.${name}`;
    if (original === undefined && name.includes(redactedMark)) faults.push(at);
    const known = original !== undefined && isObject(given) && isObject(shown);
    const was = known ? shown[name] : undefined;
    return [original ?? name, restore(member, was, known ? given[original] : undefined, at, faults)];
  });
  return Object.fromEntries(members);
}

/** The names of an object's members by the names they are shown under; one that stands for two is known for none. */
function namesBehind(shown: Json | undefined, given: Json | undefined): ReadonlyMap<string, string> {
  if (!isObject(shown) || !isObject(given)) return new Map();
  const originals = Object.keys(given);
  const names = Object.keys(shown);
  return names.length === originals.length
    ? new Map(names.map((name, place) => [name, originals[place] ?? name]))
    : new Map();
}

function restoreText(
  edit: string,
  shown: Json | undefined,
  given: Json | undefined,
  path: string,
  faults: string[],
): string {
  if (!edit.includes(redactedMark)) return edit;
  const hidden = typeof shown === "string" && typeof given === "string" ? hiddenIn(shown, given) : null;
  const parts = edit.split(redactedMark);
  if (hidden === null || parts.length - 1 > hidden.length) {
    faults.push(path);
    return edit;
  }
  return parts.map((part, place) => (place === 0 ? part : `${hidden[place - 1]}${part}`)).join("");
}

/** What each mark of a shown text stands for, in their order; null where that cannot be told for certain. */
function hiddenIn(shown: string, given: string): readonly string[] | null {
  const literals = shown.split(redactedMark);
  const pieces = [...given].map((character) => character.replace(misleading, escapeOf));
  const whole = pieces.join("");
  const first = literals[0] ?? "";
  const last = literals.at(-1) ?? "";
  if (literals.length < 2 || !whole.startsWith(first) || !whole.endsWith(last)) return null;
  const [start, end] = [first.length, whole.length - last.length];
  if (end < start) return null;
  const between = literals.slice(1, -1);
  const forward = placesOf(whole.slice(start, end), between);
  // Where the marks may be told apart in two ways, which one is right is not known.
  if (forward === null || !sameJson(forward, placesFromEnd(whole.slice(start, end), between))) return null;
  const starts = [start, ...forward.map((at, place) => start + at + (between[place]?.length ?? 0))];
  const ends = [...forward.map((at) => start + at), end];
  return originalsOf([...given], pieces, starts, ends);
}

function placesOf(text: string, literals: readonly string[]): number[] | null {
  let from = 0;
  const places: number[] = [];
  for (const literal of literals) {
    const at = text.indexOf(literal, from);
    if (at < 0) return null;
    places.push(at);
    from = at + literal.length;
  }
  return places;
}

function placesFromEnd(text: string, literals: readonly string[]): number[] | null {
  let end = text.length;
  const places: number[] = [];
  for (const literal of literals.toReversed()) {
    const at = literal.length > end ? -1 : text.lastIndexOf(literal, end - literal.length);
    if (at < 0) return null;
    places.unshift(at);
    end = at;
  }
  return places;
}

/** The parts of the original whose escaped forms reach from one place to another; they lie in order. */
function originalsOf(
  characters: readonly string[],
  pieces: readonly string[],
  starts: readonly number[],
  ends: readonly number[],
): readonly string[] {
  let at = 0;
  let place = 0;
  return starts.map((from, part) => {
    const kept: string[] = [];
    for (; place < pieces.length && at < (ends[part] ?? 0); place++) {
      if (at >= from) kept.push(characters[place] ?? "");
      at += pieces[place]?.length ?? 0;
    }
    return kept.join("");
  });
}

/** Whether two JSON values are the same; the order of an object's members does not matter. */
function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, place) => sameJson(item as Json, other[place] as Json));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}
