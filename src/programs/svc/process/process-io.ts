/** The real process (see io.ts). */
import { isatty } from "node:tty";
import { usageFailure } from "./exit.ts";
import type { Io } from "./io.ts";

const maxInput = 64 * 1_048_576;
const usualColumns = 100;

/** @returns the process, and what waits until all of its output was taken: what a pipe has not taken is lost with the process */
export function processIo(): { readonly io: Io; readonly flushed: () => Promise<void> } {
  const taken = new Map<NodeJS.WriteStream, Promise<void>>();
  const interruption = new AbortController();
  const write = (stream: NodeJS.WriteStream, text: string) => {
    // A reader that has gone, as `head` does, ends the program.
    if (!taken.has(stream)) stream.on("error", () => process.exit(1));
    taken.set(stream, new Promise((done) => stream.write(text, () => done())));
  };
  const io: Io = {
    env: process.env,
    out: (text) => write(process.stdout, text),
    err: (text) => write(process.stderr, text),
    async write(bytes) {
      for await (const piece of bytes ?? []) await Bun.write(Bun.stdout, piece);
    },
    isTerminal: isatty(1),
    isErrTerminal: isatty(2),
    isInteractive: isatty(0) && isatty(2),
    get columns() {
      return isatty(1) ? process.stdout.columns || usualColumns : usualColumns;
    },
    directory: process.cwd(),
    ask,
    readInput,
    interruption() {
      if (process.listenerCount("SIGINT") === 0)
        for (const signal of ["SIGINT", "SIGTERM"] as const)
          process.on(signal, () => {
            if (interruption.signal.aborted) process.exit(1);
            interruption.abort();
          });
      return interruption.signal;
    },
    async start(command) {
      try {
        const child = Bun.spawn([...command], { stdio: ["inherit", "inherit", "inherit"] });
        return await child.exited;
      } catch {
        return null;
      }
    },
    now: Date.now,
  };
  return { io, flushed: async () => void (await Promise.all(taken.values())) };
}

async function ask(question: string): Promise<string | null> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } catch {
    return null;
  } finally {
    lines.close();
  }
}

async function readInput(): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of Bun.stdin.stream()) {
    size += piece.length;
    if (size > maxInput) throw usageFailure("Standard input is larger than 64 MiB");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
