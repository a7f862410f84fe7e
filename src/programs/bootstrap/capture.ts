/**
 * Reads a stream of any length in bounded memory, keeping what trimming may need of it: the head, the tail
 * and the true size. Invalid bytes become U+FFFD on the way in, so sizes are those of the text that is sent.
 */
import type { Ends } from "../../../actors/execution/trim.ts";

export class OutputCapture {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #encoder = new TextEncoder();
  readonly #headRoom: number;
  readonly #cap: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #bytes = 0;
  #lastByte: number | undefined;
  readonly #onText: (text: Uint8Array) => void;

  /**
   * @param cap    bytes the trimmed output may have; memory held stays within about twice of it
   * @param onText is given what was read, as the UTF-8 that sizes count
   */
  constructor(cap: number, onText: (text: Uint8Array) => void = () => {}) {
    this.#cap = cap;
    this.#onText = onText;
    this.#headRoom = Math.ceil(cap / 4);
  }

  write(chunk: Uint8Array): void {
    const text = this.#encoder.encode(this.#decoder.decode(chunk, { stream: true }));
    this.#keep(text);
    this.#onText(text);
  }

  /** Adds a line of our own at the end, on a line of its own. */
  note(line: string): void {
    this.#keep(this.#encoder.encode(this.#decoder.decode()));
    const gap = this.#lastByte === undefined || this.#lastByte === 0x0a ? "" : "\n";
    this.#keep(this.#encoder.encode(gap + line));
  }

  /** What was kept so far; the capture stays usable. */
  ends(): Ends {
    this.#keep(this.#encoder.encode(this.#decoder.decode()));
    return { bytes: this.#bytes, head: joined(this.#head), tail: joined(this.#tail) };
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#bytes += bytes.length;
    this.#lastByte = bytes[bytes.length - 1];
    if (this.#headBytes < this.#headRoom) {
      const part = bytes.slice(0, this.#headRoom - this.#headBytes + 4);
      this.#head.push(part);
      this.#headBytes += part.length;
    }
    this.#tail.push(bytes.length > this.#cap + 4 ? bytes.slice(bytes.length - this.#cap - 4) : bytes);
    this.#tailBytes += Math.min(bytes.length, this.#cap + 4);
    while (this.#tail[0] !== undefined && this.#tailBytes - this.#tail[0].length > this.#cap + 4) {
      this.#tailBytes -= this.#tail[0].length;
      this.#tail.shift();
    }
    if (this.#tail.length > 512) this.#tail = [joined(this.#tail)];
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const only = parts[0];
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
