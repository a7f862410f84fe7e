/** Reading along: an instance's output as it grows, then its end. Works for any node, any number of times. */
import { type FSWatcher, watch } from "node:fs";
import { join } from "node:path";
import { wholeCharacters } from "../../../../actors/kernel/text.ts";
import { readJson } from "../../../lib/files/json-file.ts";
import { commandOutputBytes } from "../command.ts";
import type { FollowOptions, InstanceExit, OutputStream } from "../instance.ts";
import type { ExitRecord, LaunchPlan } from "./layout.ts";
import { readOn, shownStderr, shownStdout, shownTail } from "./segments.ts";

const chunkBytes = 65_536;
/** Files are watched; this is for file systems that do not tell, and for a supervisor that died. */
const pollMs = 500;
const streams: readonly OutputStream[] = ["stdout", "stderr"];

/**
 * @param alive asked from time to time; false once the instance can never write an exit any more
 * @throws the signal's reason when aborted
 */
export async function followFiles(
  directory: string,
  options: FollowOptions,
  alive: () => Promise<boolean>,
): Promise<InstanceExit> {
  const readers = streams.map((stream) => new Reader(directory, stream, options));
  const changes = new Changes(directory, options.signal);
  try {
    while (true) {
      options.signal.throwIfAborted();
      const exit = await readExit(directory);
      const gone = exit === null && !(await alive()) && (await readExit(directory)) === null;
      let read = 0;
      for (const reader of readers) read += reader.advance();
      if (exit !== null || gone) {
        if (read > 0) continue;
        for (const reader of readers) reader.finish();
        return describeExit(directory, exit ?? { reason: "lost", exitCode: null });
      }
      if (read === 0) await changes.next();
    }
  } finally {
    changes.close();
  }
}

export async function readExit(directory: string): Promise<ExitRecord | null> {
  return readJson<ExitRecord>(join(directory, "exit.json"));
}

async function describeExit(directory: string, exit: ExitRecord): Promise<InstanceExit> {
  const plan = await readJson<LaunchPlan>(join(directory, "launch.json"));
  if (plan?.isCommand === true) {
    const [out, error] = streams.map((stream) => shownTail(directory, stream, commandOutputBytes));
    return {
      ...exit,
      stdout: out?.text ?? "",
      stdoutTruncated: out?.truncated ?? false,
      stderr: error?.text ?? "",
      stderrTruncated: error?.truncated ?? false,
    };
  }
  const { stdout, truncated } = shownStdout(directory);
  const { stderr, truncated: stderrTruncated } = shownStderr(directory);
  return { ...exit, stdout, stdoutTruncated: truncated, stderr, stderrTruncated };
}

/** Hands one stream on in pieces that end between characters. */
class Reader {
  #offset: number;

  constructor(
    readonly directory: string,
    readonly stream: OutputStream,
    readonly options: FollowOptions,
  ) {
    this.#offset = options.from[stream];
  }

  /** Reports what is new; returns how many bytes that was. */
  advance(): number {
    return this.#report(false);
  }

  /** Reports the rest, a broken last character included. */
  finish(): void {
    while (this.#report(true) > 0);
  }

  #report(final: boolean): number {
    const piece = readOn(this.directory, this.stream, this.#offset, chunkBytes);
    if (piece === null) return 0;
    const whole = final ? piece.bytes.length : wholeCharacters(piece.bytes);
    if (whole === 0) return 0;
    this.#offset = piece.offset + whole;
    const content = new TextDecoder("utf-8", { ignoreBOM: true }).decode(piece.bytes.subarray(0, whole));
    this.options.onOutput({ stream: this.stream, offset: piece.offset, content, bytes: whole });
    return whole;
  }
}

/** Wakes when something in the directory changed, at the latest after the poll interval. */
class Changes {
  readonly #watcher: FSWatcher | null = null;
  #changed = false;
  #wake: () => void = () => {};

  constructor(
    directory: string,
    readonly signal: AbortSignal,
  ) {
    const notice = () => {
      this.#changed = true;
      this.#wake();
    };
    try {
      this.#watcher = watch(directory, notice);
      this.#watcher.on("error", () => {});
    } catch {}
    signal.addEventListener("abort", notice, { once: true });
  }

  async next(): Promise<void> {
    if (!this.#changed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#changed = false;
  }

  close(): void {
    this.#watcher?.close();
  }
}
