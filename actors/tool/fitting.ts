/** Results of tools within the size that policy leaves them (docs/reference/tools.md). Pure. */
import type { Json } from "../kernel/json.ts";

type Result = { readonly [member: string]: Json };

const encoder = new TextEncoder();

/** Bytes of a result as it is answered. */
export const bytesOf = (value: Json): number => encoder.encode(JSON.stringify(value)).length;

/** Members that carry what a tool read; all others are small. */
const carrying = ["content", "stdout", "stderr", "matches", "entries", "results"] as const;

/**
 * Cuts what a result carries to `most` bytes in all, in the order of `carrying`; texts at character boundaries, lists
 * behind an item. What was cut says `truncated`, and a list its new `count`.
 */
export function fitted(result: Result, most: number): Result {
  let left = most;
  let isCut = false;
  const changed: { [member: string]: Json } = {};
  for (const member of carrying) {
    const value = result[member];
    if (typeof value === "string") {
      const kept = result.encoding === "base64" ? base64Within(value, left) : textWithin(value, left);
      left -= encoder.encode(kept).length;
      if (kept !== value) changed[member] = kept;
    } else if (Array.isArray(value)) {
      const kept = listWithin(value as readonly Json[], left);
      left -= kept.bytes;
      if (kept.items.length < value.length) {
        changed[member] = kept.items;
        if (typeof result.count === "number") changed.count = kept.items.length;
      }
    } else continue;
    isCut ||= member in changed;
  }
  return isCut ? { ...result, ...changed, truncated: true } : result;
}

/** The beginning of a text, at most `most` bytes of UTF-8. */
export function textWithin(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= most) return text;
  let end = Math.max(0, most);
  // Never within a character: its later bytes begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

/** Of base64, so many whole groups as stand for `most` bytes. */
function base64Within(text: string, most: number): string {
  const groups = Math.floor(Math.max(0, most) / 3);
  return text.length <= Math.ceil(most / 3) * 4 ? text : text.slice(0, groups * 4);
}

function listWithin(items: readonly Json[], most: number): { readonly items: readonly Json[]; readonly bytes: number } {
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    const more = bytesOf(item);
    if (bytes + more > most) return { items: items.slice(0, at), bytes };
    bytes += more;
  }
  return { items, bytes };
}
