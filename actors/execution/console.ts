/**
 * Output while it is written, as events: the agent's own, told apart from repeats by offset, and that of the commands of
 * its tool calls. Both are stored up to one bound for each iteration.
 */

import type { CommandOutput, ConsoleChunk, DispatchResult } from "./messages.ts";
import type { PendingCall } from "./state.ts";
import { firstBytes, firstBytesOf } from "./trim.ts";
import type { ExecutionTurn } from "./turn.ts";

/** Bytes of output stored per iteration. */
const maxStoredBytes = 1_048_576;
/** Bytes of a command's output that events carry in a second, both streams together. */
export const commandBytesPerSecond = 65_536;

type Stream = ConsoleChunk["stream"];

export function noteConsole(turn: ExecutionTurn, chunk: ConsoleChunk): void {
  const { console } = turn.iteration;
  const { stream, offset, bytes } = chunk;
  const seen = console[stream];
  if (offset + bytes <= seen) return;
  console[stream] = offset + bytes;
  const news = encode(chunk.content);
  // Only text whose length is that of the stream can be cut where the known part ends.
  const fresh = offset < seen && news.length === bytes ? news.subarray(seen - offset) : news;
  store(turn, { stream, callId: null, bytes: fresh, cut: false });
}

/** A piece of what a command has written; what is known already is left out. */
export function noteCommandOutput(turn: ExecutionTurn, call: PendingCall, chunk: CommandOutput): void {
  const { stream, offset, content, truncated = false } = chunk;
  call.live ??= { stdout: 0, stderr: 0, since: turn.context.now, carried: 0, cut: false };
  const { live } = call;
  const bytes = encode(content);
  const seen = live[stream];
  if (offset + bytes.length < seen) return;
  live[stream] = offset + bytes.length;
  carry(turn, call, live, stream, bytes.subarray(Math.max(0, seen - offset)), truncated);
}

/** The command has ended: what its result holds beyond what was seen while it ran. */
export function noteCommandRest(turn: ExecutionTurn, call: PendingCall, result: DispatchResult): void {
  const sizes = { stdout: result.stdout_bytes, stderr: result.stderr_bytes };
  for (const stream of ["stdout", "stderr"] as const) {
    const text = result[stream];
    const keptBytes = Buffer.byteLength(text);
    const size = Math.max(sizes[stream] ?? 0, keptBytes);
    const left = size - (call.live?.[stream] ?? 0);
    if (left <= 0) continue;
    call.live ??= { stdout: 0, stderr: 0, since: turn.context.now, carried: 0, cut: false };
    // Of an output that was trimmed its end is there in any case. Of one that is all news no more is encoded than an
    // event could carry.
    const rest =
      left >= keptBytes ? firstBytesOf(text, commandBytesPerSecond) : encode(text).subarray(keptBytes - left);
    const isCut = keptBytes < size || (left >= keptBytes && rest.length < keptBytes);
    carry(turn, call, call.live, stream, rest, isCut);
  }
}

/** Lets through what the present second has room for. */
function carry(
  turn: ExecutionTurn,
  { call_id }: PendingCall,
  live: NonNullable<PendingCall["live"]>,
  stream: Stream,
  fresh: Uint8Array,
  isCut: boolean,
): void {
  if (turn.context.now - live.since >= 1000) Object.assign(live, { since: turn.context.now, carried: 0, cut: false });
  const kept = firstBytes(fresh, commandBytesPerSecond - live.carried);
  const cut = !live.cut && (isCut || kept.length < fresh.length);
  if (kept.length === 0 && !cut) return;
  live.carried += kept.length;
  live.cut ||= cut;
  store(turn, { stream, callId: call_id, bytes: kept, cut });
}

interface Output {
  readonly stream: Stream;
  readonly callId: string | null;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
}

/** Stores output as an event, as long as the iteration has room. */
function store(turn: ExecutionTurn, { stream, callId, bytes, cut }: Output): void {
  const { console, number } = turn.iteration;
  if (console.full) return;
  const kept = firstBytes(bytes, maxStoredBytes - console.stored);
  console.stored += kept.length;
  console.full = kept.length < bytes.length;
  turn.emit("console_output", {
    iteration_number: number,
    stream,
    content: decode(kept),
    timestamp: turn.at,
    call_id: callId,
    ...(cut || console.full ? { truncated: true as const } : {}),
  });
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
