/** How much room values take, as the UTF-8 bytes of their JSON. */
import type { Json } from "../../../kernel/json.ts";
import { jsonText } from "../../../kernel/json-text.ts";

/** Of a run's blackboard; a run that needs more fails with `blackboard_too_large`. */
export const maxBlackboardBytes = 8 * 1_048_576;
/** Of one state's result: what a command leaves behind twice over (`stdout` and `stderr`, and under `output`). */
export const maxResultBytes = 6 * 1_048_576;

const encoder = new TextEncoder();
/** Texts longer than this are measured in pieces, so that measuring takes no room of its own. */
const scratch = new Uint8Array(65_536);

export function jsonBytes(value: Json): number {
  return utf8Bytes(jsonText(value));
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
