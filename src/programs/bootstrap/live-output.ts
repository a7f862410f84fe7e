/**
 * Output of the command under way, sent to the gateway while the command runs.
 *
 * Nothing waits for it: what cannot be sent is left out, and the command's result carries what counts. At most 64 KiB a
 * second are taken, and no more is held: a flood of output costs neither memory here nor work at the gateway. A command
 * that is over before the first sending is told by its result alone.
 */
import type { CommandOutput } from "../../../actors/execution/messages.ts";
import { firstBytes } from "../../../actors/execution/trim.ts";

const bytesPerSecond = 65_536;
/** Between the first byte and its sending, and between two sendings. */
const gatherMs = 250;
/** Pieces of one message, and pieces held. */
const maxChunks = 64;
const maxHeld = 1024;

/** What became of a message: taken, to be tried again later, or of no use to this gateway. */
export type Posted = "taken" | "later" | "never";

export interface LiveOutputParts {
  readonly post: (chunks: readonly CommandOutput[]) => Promise<Posted>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

type Stream = CommandOutput["stream"];

interface Piece {
  readonly stream: Stream;
  readonly offset: number;
  size: number;
  content: string;
  truncated: boolean;
}

/** Of one command. */
export class LiveOutput {
  readonly #parts: LiveOutputParts;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #offsets = { stdout: 0, stderr: 0 };
  readonly #waiting: Piece[] = [];
  /** How many of the waiting pieces are on their way. */
  #posting = 0;
  #held = 0;
  #second = Number.NEGATIVE_INFINITY;
  #taken = 0;
  #isCut = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isOver = false;

  constructor(parts: LiveOutputParts) {
    this.#parts = parts;
  }

  /** @param bytes of UTF-8 text, whole characters */
  add(stream: Stream, bytes: Uint8Array): void {
    if (this.#isOver) return;
    const now = this.#parts.now();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#taken = 0;
      this.#isCut = false;
    }
    const offset = this.#offsets[stream];
    this.#offsets[stream] += bytes.length;
    const room = this.#waiting.length >= maxHeld ? 0 : bytesPerSecond - Math.max(this.#taken, this.#held);
    const kept = firstBytes(bytes, room);
    const isFirstCut = kept.length < bytes.length && !this.#isCut;
    if (kept.length === 0 && !isFirstCut) return;
    this.#isCut ||= isFirstCut;
    this.#taken += kept.length;
    this.#held += kept.length;
    this.#hold(stream, offset, kept).truncated ||= isFirstCut;
    this.#timer ??= setTimeout(() => this.#send(), gatherMs);
  }

  /** The command has ended; its result tells the rest. */
  stop(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Joins the last piece where that is not on its way yet and ends where this one begins. */
  #hold(stream: Stream, offset: number, kept: Uint8Array): Piece {
    const content = this.#decoder.decode(kept);
    const last = this.#waiting.length > this.#posting ? this.#waiting.at(-1) : undefined;
    if (last?.stream === stream && !last.truncated && last.offset + last.size === offset) {
      last.content += content;
      last.size += kept.length;
      return last;
    }
    const piece = { stream, offset, size: kept.length, content, truncated: false };
    this.#waiting.push(piece);
    return piece;
  }

  async #send(): Promise<void> {
    const pieces = this.#waiting.slice(0, maxChunks);
    this.#posting = pieces.length;
    const chunks = pieces.map(({ stream, offset, content, truncated }) => ({
      stream,
      offset,
      content,
      ...(truncated ? { truncated } : {}),
    }));
    const posted = await this.#parts.post(chunks);
    this.#posting = 0;
    if (posted === "never") this.stop();
    if (this.#isOver) return;
    if (posted === "taken") {
      this.#waiting.splice(0, pieces.length);
      for (const { size } of pieces) this.#held -= size;
    }
    this.#timer = this.#waiting.length > 0 ? setTimeout(() => this.#send(), gatherMs) : null;
  }
}
