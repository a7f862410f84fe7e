/** What a follower knows of an instance's output: told on as it comes, and as much as a record shows kept. */
import { trimEnds, trimText } from "../../../../actors/execution/trim.ts";
import { utf8Tail, wholeCharacters } from "../../../../actors/kernel/text.ts";
import { commandOutputBytes } from "../command.ts";
import type { FollowOptions, InstanceExit, OutputStream } from "../instance.ts";
import { type Frame, tailBytes } from "./keeper/protocol.ts";

const stdoutCap = tailBytes;
const stderrCap = 64 * 1_024;
const nothing = new Uint8Array();

export class OutputBuffer {
  readonly #streams: Readonly<Record<OutputStream, StreamBuffer>>;
  /** The kernel killed something for want of memory. */
  outOfMemory = false;

  /** Resolves when both streams have ended: the instance itself does within moments. */
  readonly ended: Promise<void>;
  readonly #end: () => void;

  constructor(options: Pick<FollowOptions, "from" | "onOutput">) {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.ended, this.#end] = [promise, resolve];
    this.#streams = { stdout: new StreamBuffer("stdout", options), stderr: new StreamBuffer("stderr", options) };
  }

  /** Takes a frame; one that was seen before changes nothing. */
  add(frame: Frame): void {
    if (frame.kind === "memory") this.outOfMemory = true;
    else this.#streams[frame.stream].add(frame);
    if (frame.kind === "end" && this.#streams.stdout.ended && this.#streams.stderr.ended) this.#end();
  }

  /**
   * Tells on what is left of a broken last character, and what the record shows.
   * @param isCommand of its output the end is shown
   */
  conclude(isCommand = false): Omit<InstanceExit, "reason" | "exitCode"> {
    const { stdout, stderr } = this.#streams;
    for (const stream of [stdout, stderr]) stream.conclude();
    if (isCommand) {
      return {
        stdout: utf8Tail(stdout.tail, commandOutputBytes),
        stdoutTruncated: stdout.size > commandOutputBytes || stdout.cut,
        stderr: utf8Tail(stderr.tail, commandOutputBytes),
        stderrTruncated: stderr.size > commandOutputBytes || stderr.cut,
      };
    }
    const { size, head, tail, cut } = stdout;
    const shown = trimEnds({ bytes: size, head, tail }, { bytes: 0, head: nothing, tail: nothing }, stdoutCap);
    return {
      stdout: trimText(shown.stdout, stdoutCap),
      stdoutTruncated: size > stdoutCap || cut,
      stderr: utf8Tail(stderr.tail, stderrCap),
      stderrTruncated: stderr.size > stderrCap || stderr.cut,
    };
  }
}

class StreamBuffer {
  /** End of what was seen. */
  size = 0;
  /** Output was kept back, and its end has not come. */
  cut = false;
  ended = false;
  #told: number;
  readonly #head: Uint8Array[] = [];
  #headBytes = 0;
  /** Unbroken up to the end of what was seen. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  /** Beginning of a character whose rest has not come; ends where `#told` does. */
  #begun: Uint8Array = nothing;

  constructor(
    readonly stream: OutputStream,
    readonly options: Pick<FollowOptions, "from" | "onOutput">,
  ) {
    this.#told = options.from[stream];
  }

  get head(): Uint8Array {
    return Buffer.concat(this.#head);
  }

  get tail(): Uint8Array {
    return Buffer.concat(this.#tail);
  }

  add(frame: Exclude<Frame, { kind: "memory" }>): void {
    if (frame.kind !== "bytes") {
      // Kept back and not seen yet; a mark from before that was followed already changes nothing.
      if (frame.kind === "end") {
        this.cut = false;
        this.ended = true;
      } else if (frame.offset >= this.size) this.cut = true;
      return;
    }
    const known = Math.max(0, this.size - frame.offset);
    if (known >= frame.bytes.length) return;
    this.#take(frame.offset + known, frame.bytes.subarray(known));
  }

  conclude(): void {
    if (this.#begun.length > 0) this.#tell(this.#told - this.#begun.length, this.#begun, true);
    this.#begun = nothing;
  }

  #take(offset: number, bytes: Uint8Array): void {
    if (offset > this.size) {
      this.conclude();
      this.#tail = [];
      this.#tailBytes = 0;
    }
    if (offset === this.#headBytes && this.#headBytes < tailBytes) {
      this.#head.push(bytes);
      this.#headBytes += bytes.length;
    }
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    while (this.#tail[0] !== undefined && this.#tailBytes - this.#tail[0].length >= tailBytes) {
      this.#tailBytes -= this.#tail[0].length;
      this.#tail.shift();
    }
    this.size = offset + bytes.length;
    if (this.size <= this.#told) return;
    const skipped = Math.max(0, this.#told - offset);
    const joined = offset + skipped > this.#told ? bytes : Buffer.concat([this.#begun, bytes.subarray(skipped)]);
    this.#tell(this.size - joined.length, joined, false);
  }

  #tell(offset: number, bytes: Uint8Array, final: boolean): void {
    const whole = final ? bytes.length : wholeCharacters(bytes);
    this.#begun = bytes.slice(whole);
    this.#told = offset + bytes.length;
    if (whole === 0) return;
    const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, whole));
    this.options.onOutput({ stream: this.stream, offset, content, bytes: whole });
  }
}
