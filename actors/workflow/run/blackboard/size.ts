/** How much room values take, as the UTF-8 bytes of their JSON. */
import { isObject, type Json } from "../../../kernel/json.ts";

/** Of a run's blackboard; a run that needs more fails with `blackboard_too_large`. */
export const maxBlackboardBytes = 8 * 1_048_576;
/** Of one state's result: what a command leaves behind twice over (`stdout` and `stderr`, and under `output`). */
export const maxResultBytes = 6 * 1_048_576;

const encoder = new TextEncoder();
/** Texts longer than this are measured in pieces, so that measuring takes no room of its own. */
const scratch = new Uint8Array(65_536);

/** Characters of a text that is measured by itself, and only once where it occurs several times. */
const largeText = 16 * 1024;
/** Levels of a value in which such are looked for. */
const levels = 2;

type Measured = (readonly [text: string, bytes: number])[];

export function jsonBytes(value: Json): number {
  return holdsLarge(value, levels) ? bytesOf(value, levels, []) : utf8Bytes(JSON.stringify(value));
}

function holdsLarge(value: Json | undefined, depth: number): boolean {
  if (typeof value === "string") return value.length > largeText;
  if (depth === 0 || value === undefined || !isObject(value)) return false;
  for (const name in value) if (holdsLarge(value[name], depth - 1)) return true;
  return false;
}

function bytesOf(value: Json, depth: number, measured: Measured): number {
  if (typeof value === "string" && value.length > largeText) return largeBytes(value, measured);
  if (depth === 0 || !isObject(value)) return utf8Bytes(JSON.stringify(value));
  let bytes = 1;
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) bytes += utf8Bytes(JSON.stringify(name)) + 2 + bytesOf(member, depth - 1, measured);
  }
  // Braces, and a comma less than members.
  return Math.max(2, bytes);
}

function largeBytes(text: string, measured: Measured): number {
  const known = measured.find(([one]) => one === text);
  if (known !== undefined) return known[1];
  let bytes = 2;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start + largeText);
    bytes += utf8Bytes(JSON.stringify(text.slice(start, end))) - 2;
    start = end;
  }
  measured.push([text, bytes]);
  return bytes;
}

/** Two characters that are one in UTF-8 stay together: apart they would be written as escapes. */
function pieceEnd(text: string, end: number): number {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(end - 1, end + 1)) ? end + 1 : end;
}

/** Of one member of an object, its name and a comma included. */
export function memberBytes(key: string, value: Json): number {
  return jsonBytes(key) + jsonBytes(value) + 2;
}

function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let rest = text; rest !== ""; ) {
    const { read, written } = encoder.encodeInto(rest, scratch);
    bytes += written;
    rest = rest.slice(read);
  }
  return bytes;
}
