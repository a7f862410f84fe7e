/** What a command writes: read to its end in bounded memory, counted exactly, with both ends kept. */
import { frameLimits } from "../../../../actors/edge/frames.ts";
import { type TrimmedOutput, trimEnds } from "../../../../actors/execution/trim.ts";

export type StreamName = "stdout" | "stderr";

/** Bytes of both streams that a result may hold beside their tails. */
export const keptOutputBytes = 65_536;

/** Takes output that is to be seen while the command runs. */
export type ShowOutput = (stream: StreamName, offset: number, bytes: Uint8Array) => void;

/** One stream. */
class StreamKeeper {
  bytes = 0;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    const room = keptOutputBytes / 4 - this.#headBytes;
    if (room > 0) {
      const part = chunk.slice(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
    }
    const last = chunk.slice(-keptOutputBytes);
    this.#tail.push(last);
    this.#tailBytes += last.length;
    while (this.#tail[0] !== undefined && this.#tailBytes - this.#tail[0].length >= keptOutputBytes) {
      this.#tailBytes -= this.#tail[0].length;
      this.#tail.shift();
    }
    if (this.#tail.length > 256) this.#tail = [Buffer.concat(this.#tail)];
  }

  ends() {
    return { bytes: this.bytes, head: Buffer.concat(this.#head), tail: Buffer.concat(this.#tail) };
  }

  /** Text of the last bytes. */
  tail(): string {
    return lastText(Buffer.concat(this.#tail), frameLimits.maxTailBytes);
  }
}

/** The last bytes as text of at most so many bytes; it begins at a character. */
export function lastText(bytes: Uint8Array, most: number): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(characterAfter(bytes, most)));
  // What is no UTF-8 became longer.
  const encoded = Buffer.from(text);
  return encoded.length <= most ? text : encoded.subarray(characterAfter(encoded, most)).toString();
}

/** Where the last `most` bytes begin, no character cut: its later bytes begin with the bits 10. */
function characterAfter(bytes: Uint8Array, most: number): number {
  let at = Math.max(0, bytes.length - most);
  for (let steps = 0; at > 0 && steps < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80; steps++) at += 1;
  return at;
}

export class OutputKeeper {
  readonly #streams = { stdout: new StreamKeeper(), stderr: new StreamKeeper() };
  #shown = 0;

  /** @param most bytes of both streams that are shown while the command runs */
  constructor(
    private readonly most: number,
    private readonly show: ShowOutput,
  ) {}

  add(stream: StreamName, chunk: Uint8Array): void {
    const keeper = this.#streams[stream];
    const offset = keeper.bytes;
    keeper.add(chunk);
    const part = chunk.subarray(0, Math.max(0, this.most - this.#shown));
    this.#shown += part.length;
    if (part.length > 0) this.show(stream, offset, part);
  }

  get sizes() {
    return { stdout_bytes: this.#streams.stdout.bytes, stderr_bytes: this.#streams.stderr.bytes };
  }

  /** More was written than is shown. */
  get isTruncated(): boolean {
    return this.#streams.stdout.bytes + this.#streams.stderr.bytes > this.most;
  }

  tails() {
    return { stdout_tail: this.#streams.stdout.tail(), stderr_tail: this.#streams.stderr.tail() };
  }

  /** Both streams as texts, in so many bytes. @param cap at most `keptOutputBytes` */
  trimmed(cap: number): TrimmedOutput {
    return trimEnds(this.#streams.stdout.ends(), this.#streams.stderr.ends(), cap);
  }
}
