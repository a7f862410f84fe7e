/** Makes frames of one output stream of any length, in bounded memory and bounded text. */
import type { OutputStream } from "../../instance.ts";
import { frameBytesOf, frameMark, liveBytes, tailBytes } from "./protocol.ts";

export class OutputFramer {
  #offset = 0;
  /** The latest bytes that were kept back, oldest first. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(
    readonly stream: OutputStream,
    readonly emit: (text: string) => void,
  ) {}

  write(chunk: Uint8Array): void {
    const room = Math.max(0, liveBytes - this.#offset);
    if (room > 0) this.emit(frameBytesOf(this.stream, this.#offset, chunk.subarray(0, room)));
    if (this.#offset <= liveBytes && this.#offset + chunk.length > liveBytes) {
      this.emit(frameMark(this.stream, liveBytes, "cut"));
    }
    if (chunk.length > room) this.#hold(chunk.slice(room));
    this.#offset += chunk.length;
  }

  /** Reports what was kept back. */
  flush(): void {
    const held = Buffer.concat(this.#held);
    const tail = held.subarray(Math.max(0, held.length - tailBytes));
    this.#held = [];
    this.#heldBytes = 0;
    this.emit(frameBytesOf(this.stream, this.#offset - tail.length, tail));
  }

  finish(): void {
    this.flush();
    this.emit(frameMark(this.stream, this.#offset, "end"));
  }

  #hold(bytes: Uint8Array): void {
    this.#held.push(bytes.length > tailBytes ? bytes.subarray(bytes.length - tailBytes) : bytes);
    this.#heldBytes += Math.min(bytes.length, tailBytes);
    while (this.#held[0] !== undefined && this.#heldBytes - this.#held[0].length >= tailBytes) {
      this.#heldBytes -= this.#held[0].length;
      this.#held.shift();
    }
    if (this.#held.length > 512) this.#held = [Buffer.concat(this.#held)];
  }
}
