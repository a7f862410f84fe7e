/**
 * How a command's output is made to fit its cap.
 *
 * The bootstrap trims while it reads and the gateway trims again what it is sent, so both use this file.
 * Lengths are bytes of the UTF-8 text; cuts fall on character boundaries; the end always survives.
 */

/** Room kept for the marker that stands where bytes were left out. */
const markerRoom = 40;
/** A share smaller than this is too small for a head and a marker: only the end is kept. */
const smallestMarkedShare = 256;
/** Bytes of one character after its first. */
const longestContinuation = 3;

/** What is known of one stream: its true size, and enough of both ends to trim it. */
export interface Ends {
  /** Size of the whole stream in bytes of UTF-8. */
  readonly bytes: number;
  /** The first bytes; all of them, or at least a quarter of the cap. */
  readonly head: Uint8Array;
  /** The last bytes; all of them, or at least the cap. */
  readonly tail: Uint8Array;
}

export interface TrimmedOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  /** Sizes before trimming, in bytes of UTF-8. */
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
}

/** Trims two texts so that together they hold at most `cap` bytes of UTF-8. */
export function trimOutput(stdout: string, stderr: string, cap: number): TrimmedOutput {
  return trimEnds(whole(stdout), whole(stderr), cap);
}

/** Trims one text to at most `cap` bytes of UTF-8. */
export function trimText(text: string, cap: number): string {
  return trimEnds(whole(text), whole(""), cap).stdout;
}

/** The same for streams of which only the ends were kept. */
export function trimEnds(stdout: Ends, stderr: Ends, cap: number): TrimmedOutput {
  const sizes = { stdout_bytes: stdout.bytes, stderr_bytes: stderr.bytes };
  if (stdout.bytes + stderr.bytes <= cap) {
    return { stdout: decode(stdout.tail), stderr: decode(stderr.tail), truncated: false, ...sizes };
  }
  const share = shares(stdout.bytes, stderr.bytes, cap);
  return { stdout: fit(stdout, share.stdout), stderr: fit(stderr, share.stderr), truncated: true, ...sizes };
}

/** Half of the cap for each stream, the odd byte to stdout; a stream shorter than its half cedes the rest. */
function shares(stdout: number, stderr: number, cap: number): { stdout: number; stderr: number } {
  const stdoutHalf = Math.ceil(cap / 2);
  const stderrHalf = cap - stdoutHalf;
  if (stdout < stdoutHalf) return { stdout, stderr: cap - stdout };
  if (stderr < stderrHalf) return { stdout: cap - stderr, stderr };
  return { stdout: stdoutHalf, stderr: stderrHalf };
}

function fit(ends: Ends, share: number): string {
  if (ends.bytes <= share) return decode(ends.tail);
  if (share < smallestMarkedShare) return decode(lastBytes(ends.tail, share));
  const headRoom = Math.floor((share - markerRoom) / 4);
  const head = firstBytes(ends.head, headRoom);
  const tail = lastBytes(ends.tail, share - markerRoom - headRoom);
  const left = ends.bytes - head.length - tail.length;
  return `${decode(head)}\n[trimmed ${left} bytes]\n${decode(tail)}`;
}

/** At most `limit` bytes from the start, never ending inside a character. */
export function firstBytes(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.length <= limit) return bytes;
  let end = limit;
  while (end > limit - longestContinuation && end > 0 && isContinuation(bytes[end])) end -= 1;
  return bytes.subarray(0, end);
}

/** At most `limit` bytes from the end, never starting inside a character. */
function lastBytes(bytes: Uint8Array, limit: number): Uint8Array {
  const first = Math.max(0, bytes.length - limit);
  let start = first;
  while (start < first + longestContinuation && start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function whole(text: string): Ends {
  const bytes = new TextEncoder().encode(text);
  return { bytes: bytes.length, head: bytes, tail: bytes };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
