/** JSON-RPC as far as the transports look at it themselves. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { nestsDeeper } from "../../../actors/kernel/json.ts";

/** What the transports answer in a server's place, by the `code` of a JSON-RPC error. */
export const ownErrors = { tooLarge: -32_901, lost: -32_902 } as const;

/** Deeper than any use, and less than what recursion stands. */
const maxDepth = 256;

/** Whether a value that came as JSON nests deeper than what is worked on; found without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** An error in the place of an answer that did not come, or was not read. */
export function inPlaceOf(id: string | number, code: keyof typeof ownErrors, message: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: ownErrors[code], message } };
}

/** Null for what is no JSON-RPC message. */
export function readMessage(text: string): JSONRPCMessage | null {
  if (!text.trimStart().startsWith("{") || nestsDeeper(text, maxDepth)) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";
    // The client's protocol layer checks the rest.
    return isMessage ? (value as JSONRPCMessage) : null;
  } catch {
    return null;
  }
}

/** The id of the request that a message answers; null for requests and notifications. */
export function answeredId(message: JSONRPCMessage): string | number | null {
  return "id" in message && !("method" in message) ? (message.id ?? null) : null;
}

/** The id of a message that asks for an answer. */
export function askedId(message: JSONRPCMessage): string | number | null {
  return "id" in message && "method" in message ? (message.id ?? null) : null;
}

/** The request that a message says is not waited for any more. */
export function cancelledId(message: JSONRPCMessage): string | number | null {
  if (!("method" in message) || message.method !== "notifications/cancelled") return null;
  const id = message.params?.requestId;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** What an answer that is too long to be read was an answer to, as far as its two ends tell. */
export function idAtTheEnds(head: string, tail: string): string | number | null {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]{1,128}")\s*,/.exec(head)?.[1] ??
    /,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]{1,128}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail)?.[1];
  if (found === undefined) return null;
  return found.startsWith('"') ? found.slice(1, -1) : Number(found);
}
