/** The agent's output while it runs: told apart from repeats by offset, stored up to a bound. */

import type { ConsoleChunk } from "./messages.ts";
import type { ExecutionTurn } from "./turn.ts";

/** Bytes of output stored per iteration. */
const maxStoredBytes = 1_048_576;

export function noteConsole(turn: ExecutionTurn, chunk: ConsoleChunk): void {
  const { console, number } = turn.iteration;
  const { stream, offset, bytes } = chunk;
  const seen = console[stream];
  if (offset + bytes <= seen) return;
  console[stream] = offset + bytes;
  if (console.full) return;
  const news = encode(chunk.content);
  // Only text whose length is that of the stream can be cut where the known part ends.
  const fresh = offset < seen && news.length === bytes ? news.subarray(seen - offset) : news;
  const kept = fresh.subarray(0, maxStoredBytes - console.stored);
  console.stored += kept.length;
  console.full = kept.length < fresh.length;
  turn.emit("console_output", {
    iteration_number: number,
    stream,
    content: decode(kept),
    timestamp: turn.at,
    ...(console.full ? { truncated: true as const } : {}),
  });
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
