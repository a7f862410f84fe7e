/** A text that comes in pieces, with values hidden that are split over them. */
import type { Masker } from "./masker.ts";

/** A piece of a stream of bytes. */
export interface Piece {
  /** Bytes before it. */
  readonly offset: number;
  readonly bytes: number;
  readonly content: string;
}

/** Held back at most, in characters: what is longer without an end is hidden as far as a value may have begun in it. */
const mostHeld = 1024 * 1024;

export class MaskedStream {
  #held: Piece | null = null;

  constructor(private readonly masker: Masker) {}

  /** Characters that it holds back. */
  get held(): number {
    return this.#held?.content.length ?? 0;
  }

  /** @returns what can be shown by now; null: nothing yet */
  add(piece: Piece): Piece | null {
    const whole = this.#joined(piece);
    const { content, bytes, offset } = whole;
    const cut = this.masker.shownUpTo(content);
    this.#held = null;
    if (cut === content.length) return this.#masked(whole);
    const shown = Buffer.byteLength(content.slice(0, cut));
    // Of what was no text its size in bytes is unknown: it is held as a whole.
    if (Buffer.byteLength(content) !== bytes) {
      if (content.length > mostHeld) return { offset, bytes, content: "*".repeat(Buffer.byteLength(content)) };
      this.#held = whole;
      return null;
    }
    this.#held = { offset: offset + shown, bytes: bytes - shown, content: content.slice(cut) };
    return shown === 0 ? null : this.#masked({ offset, bytes: shown, content: content.slice(0, cut) });
  }

  /** What was held back, once nothing more comes. */
  end(): Piece | null {
    const held = this.#held;
    this.#held = null;
    return held === null ? null : this.#masked(held);
  }

  /** A piece that does not follow on what is held begins anew; what is held is told again by who resumes there. */
  #joined(piece: Piece): Piece {
    const held = this.#held;
    if (held === null || held.offset + held.bytes !== piece.offset) return piece;
    return { offset: held.offset, bytes: held.bytes + piece.bytes, content: held.content + piece.content };
  }

  #masked(piece: Piece): Piece {
    return { ...piece, content: this.masker.mask(piece.content) };
  }
}
