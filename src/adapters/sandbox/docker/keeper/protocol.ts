/**
 * What passes between a node and the keeper of a container.
 *
 * The keeper gets its assignment as one line of JSON through the fifo `assign` of its control directory. The instance's
 * output travels back through the engine's log: one text frame a line, written by the keeper and by
 * nothing else. Offsets count bytes from the start of a stream. An engine may add, drop or split line ends as it
 * likes; frames are found by their first and last character, which base64 does not have.
 *
 *   ~o<offset>:<base64>;   bytes of standard output (`e`: of standard error)
 *   ~o<offset>+;           from here on output is kept back until the end, and only its last part comes
 *   ~o<offset>.;           the stream ended here
 *   ~m;                    the kernel killed something here for want of memory
 */
import type { OutputStream } from "../../instance.ts";

/** What a keeper is given to run. */
export interface Assignment {
  readonly argv: readonly string[];
  /** The program's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** File behind standard input, or null for none. */
  readonly stdin: string | null;
  /** True where `argv[0]` may be a name that the environment's PATH finds, and `cwd` may not be there. */
  readonly isCommand: boolean;
}

/** Where the control directory is inside; read-only there, which leaves fifos usable. */
export const controlInside = "/run/svc/control";
/** The keeper reads its assignment here. */
export const assignName = "assign";
/** The keeper keeps this open for writing: a reader learns of its end at once. */
export const aliveName = "alive";

/** Bytes of each stream that come at once; console output has as much. */
export const liveBytes = 1_024 * 1_024;
/** Bytes of the end of each stream that come when it is longer; a record shows no more of it. */
export const tailBytes = 1_024 * 1_024;
/** Bytes in one frame; a multiple of 3 whose line stays within the 8 KiB that engines read at once. */
const frameBytes = 5_700;

const letters = { stdout: "o", stderr: "e" } as const;

export type Frame =
  | { readonly kind: "bytes"; readonly stream: OutputStream; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut" | "end"; readonly stream: OutputStream; readonly offset: number }
  | { readonly kind: "memory" };

/** The frames of one piece of output, as text. */
export function frameBytesOf(stream: OutputStream, offset: number, bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += frameBytes) {
    text += `~${letters[stream]}${offset + at}:${Buffer.from(bytes.subarray(at, at + frameBytes)).toString("base64")};\n`;
  }
  return text;
}

export function frameMark(stream: OutputStream, offset: number, kind: "cut" | "end"): string {
  return `~${letters[stream]}${offset}${kind === "cut" ? "+" : "."};\n`;
}

export const memoryFrame = "~m;\n";

const longestFrame = 16_384;

/** Finds frames in text that arrives in pieces; what is none is skipped. */
export class FrameReader {
  #rest = "";

  /** @param text the next piece of the log, ASCII */
  *read(text: string): Generator<Frame> {
    this.#rest += text;
    for (;;) {
      const end = this.#rest.indexOf(";");
      // The nearest one: text that broke off before it is not part of this frame.
      const start = this.#rest.lastIndexOf("~", end < 0 ? undefined : end);
      if (end < 0) {
        this.#rest = start < 0 || this.#rest.length - start > longestFrame ? "" : this.#rest.slice(start);
        return;
      }
      const frame = start < 0 ? null : parse(this.#rest.slice(start + 1, end).replaceAll(/\s/g, ""));
      this.#rest = this.#rest.slice(end + 1);
      if (frame !== null) yield frame;
    }
  }
}

function parse(text: string): Frame | null {
  if (text === "m") return { kind: "memory" };
  const [, letter, digits, mark, content = ""] = /^([oe])(\d{1,15})([:+.])([A-Za-z0-9+/=]*)$/.exec(text) ?? [];
  if (letter === undefined || mark === undefined) return null;
  const stream = letter === "e" ? "stderr" : "stdout";
  const offset = Number(digits);
  if (mark === ":") return { kind: "bytes", stream, offset, bytes: Buffer.from(content, "base64") };
  return { kind: mark === "+" ? "cut" : "end", stream, offset };
}
