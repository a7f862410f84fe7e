/**
 * An output stream of any length in bounded disk space: segments of half a mebibyte, each a file named by
 * the place of its first byte. The first and the last few are kept, which is what a record shows of it;
 * a live reader that keeps up sees everything.
 */
import { closeSync, openSync, readdirSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { trimEnds, trimText } from "../../../../actors/execution/trim.ts";
import { utf8Tail } from "../../../../actors/kernel/text.ts";
import type { OutputStream } from "../instance.ts";

const segmentBytes = 512 * 1_024;
/** Enough for a mebibyte however full the newest is: the result of a command shows as much of its end. */
const lastSegmentsKept = 3;

export class SegmentWriter {
  readonly #prefix: string;
  #offset = 0;
  readonly #starts: number[] = [];
  #file: number | null = null;
  #filled = 0;

  constructor(directory: string, stream: OutputStream) {
    this.#prefix = join(directory, `${stream}.`);
  }

  /**
   * Writes a part of a chunk, from `from` on.
   * @returns how many bytes @throws when the system does not write; then it may be tried again
   */
  write(chunk: Uint8Array, from: number): number {
    const file = this.#open();
    const written = writeSync(file, chunk, from, Math.min(chunk.length - from, segmentBytes - this.#filled));
    this.#filled += written;
    this.#offset += written;
    return written;
  }

  #open(): number {
    if (this.#file !== null && this.#filled < segmentBytes) return this.#file;
    const next = openSync(this.#prefix + this.#offset, "w", 0o600);
    if (this.#file !== null) closeSync(this.#file);
    this.#file = next;
    this.#filled = 0;
    this.#starts.push(this.#offset);
    const dropped = this.#starts.length > lastSegmentsKept + 1 ? this.#starts.splice(1, 1)[0] : undefined;
    if (dropped !== undefined) rmSync(this.#prefix + dropped, { force: true });
    return this.#file;
  }
}

interface Segment {
  readonly start: number;
  readonly end: number;
  readonly path: string;
}

function segments(directory: string, stream: OutputStream): Segment[] {
  const found: Segment[] = [];
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${stream}.`)) continue;
    const start = Number(name.slice(stream.length + 1));
    const path = join(directory, name);
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    found.push({ start, end: start + size, path });
  }
  return found.sort((a, b) => a.start - b.start);
}

/**
 * Reads on from `offset`.
 * @returns the next bytes that are still there, at most `limit`, and where they start; null when there are none
 */
export function readOn(
  directory: string,
  stream: OutputStream,
  offset: number,
  limit: number,
): { readonly offset: number; readonly bytes: Uint8Array } | null {
  for (const segment of segments(directory, stream)) {
    if (segment.end <= offset) continue;
    const from = Math.max(offset, segment.start);
    const bytes = readRange(segment, from, Math.min(segment.end, from + limit));
    if (bytes.length > 0) return { offset: from, bytes };
  }
  return null;
}

const stdoutCap = 1_024 * 1_024;
const stderrCap = 64 * 1_024;

/** What a record shows of standard output: all of it up to 1 MiB, else head and tail. */
export function shownStdout(directory: string): { readonly stdout: string; readonly truncated: boolean } {
  const all = segments(directory, "stdout");
  const first = all[0];
  const size = all.at(-1)?.end ?? 0;
  if (first === undefined) return { stdout: "", truncated: false };
  const head = readRange(first, 0, first.end);
  const tail = readTail(all, stdoutCap);
  const { stdout } = trimEnds(
    { bytes: size, head, tail },
    { bytes: 0, head: new Uint8Array(), tail: new Uint8Array() },
    stdoutCap,
  );
  // Bytes that are no UTF-8 grow when they are decoded.
  return { stdout: trimText(stdout, stdoutCap), truncated: size > stdoutCap };
}

/** What a record shows of standard error: its end. */
export function shownStderr(directory: string): { readonly stderr: string; readonly truncated: boolean } {
  const { text, truncated } = shownTail(directory, "stderr", stderrCap);
  return { stderr: text, truncated };
}

/** The end of a stream, which is all that the result of a command shows of it. @param limit bytes, 1 MiB at most */
export function shownTail(
  directory: string,
  stream: OutputStream,
  limit: number,
): { readonly text: string; readonly truncated: boolean } {
  const all = segments(directory, stream);
  return { text: utf8Tail(readTail(all, limit), limit), truncated: (all.at(-1)?.end ?? 0) > limit };
}

/** The last `limit` bytes, as far as they lie in unbroken segments. */
function readTail(all: readonly Segment[], limit: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let left = limit;
  let next: number | null = null;
  for (const segment of all.toReversed()) {
    if (left <= 0 || (next !== null && segment.end !== next)) break;
    const bytes = readRange(segment, Math.max(segment.start, segment.end - left), segment.end);
    parts.unshift(bytes);
    left -= bytes.length;
    next = segment.start;
  }
  return Buffer.concat(parts);
}

function readRange(segment: Segment, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, to - from));
  try {
    const file = openSync(segment.path, "r");
    try {
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from - segment.start));
    } finally {
      closeSync(file);
    }
  } catch {
    // The segment rolled away while it was being read.
    return bytes.subarray(0, 0);
  }
}
