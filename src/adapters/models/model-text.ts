/**
 * What comes from a model is outside text: it may hold NUL characters and lone surrogates, which no store
 * takes, nest without end, or be no JSON at all.
 */
import { isObject } from "../../../actors/kernel/json.ts";
import { storableText } from "../../../actors/kernel/text.ts";
import type { ModelMessage, ToolCall } from "./call.ts";

const deepest = 64;
const shownOfMalformed = 1024;

/** The arguments of a tool call from what the model wrote; nothing at all counts as `{}`. */
export function toolArguments(written: string): Pick<ToolCall, "arguments" | "malformed"> {
  if (written.trim() === "") return { arguments: {} };
  try {
    const value = cleanJson(JSON.parse(written), 0);
    if (isObject(value)) return { arguments: value };
  } catch {
    // Told to the model by `malformed`.
  }
  return { arguments: {}, malformed: storableText(written.slice(0, shownOfMalformed)) };
}

/** Ids that are present, clean and different from each other. */
export function distinctIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call, index) => {
    let id = storableText(call.id).slice(0, 200) || `call_${index}`;
    while (seen.has(id)) id = `${id}_${index}`;
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

/** Size of a conversation in UTF-8 bytes, as far as the model reads it. */
export function conversationBytes(messages: readonly ModelMessage[]): number {
  let bytes = 0;
  for (const message of messages) {
    bytes += Buffer.byteLength(message.content);
    if (message.role === "assistant" && message.tool_calls) bytes += toolCallBytes(message.tool_calls);
  }
  return bytes;
}

export function toolCallBytes(calls: readonly ToolCall[]): number {
  let bytes = 0;
  for (const call of calls) bytes += Buffer.byteLength(call.name) + Buffer.byteLength(JSON.stringify(call.arguments));
  return bytes;
}

function cleanJson(value: unknown, depth: number): unknown {
  if (depth > deepest) throw new RangeError("nested too deeply");
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), cleanJson(item, depth + 1)]),
  );
}
