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
  return trimEnds(endsOf(stdout, cap), endsOf(stderr, cap), cap);
}

/** Trims one text to at most `cap` bytes of UTF-8. */
export function trimText(text: string, cap: number): string {
  return trimEnds(endsOf(text, cap), endsOf("", cap), cap).stdout;
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

/** Of a long text only its ends are encoded: the whole of 16 MiB would take the main thread 10 ms. */
function endsOf(text: string, cap: number): Ends {
  if (text.length <= 2 * cap) {
    const bytes = new TextEncoder().encode(text);
    return { bytes: bytes.length, head: bytes, tail: bytes };
  }
  return { bytes: Buffer.byteLength(text), head: firstBytesOf(text, cap), tail: lastBytesOf(text, cap) };
}

/** At most `limit` bytes of UTF-8 from the start of a text, never ending inside a character. */
export function firstBytesOf(text: string, limit: number): Uint8Array {
  // One more than needed, so that half of a pair of surrogates at the cut is beyond the limit.
  const start = text.length > limit ? text.slice(0, limit + 1) : text;
  return firstBytes(new TextEncoder().encode(start), limit);
}

/** The same from the end. */
function lastBytesOf(text: string, limit: number): Uint8Array {
  return lastBytes(new TextEncoder().encode(text.slice(-(limit + 1))), limit);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
