/**
 * The command line of edge hosts alone, as the one file svc-edge that hosts have (`npm run build:edge`); `svc edge` has
 * the same verbs. Verbs, flags and exit codes: docs/reference/edge-cli.md.
 */
import { isatty } from "node:tty";
import type { Environment } from "./command/environment.ts";
import { runCommand } from "./command/run-command.ts";
import { verbs } from "./verbs.ts";
import { programVersion } from "./version.ts";

const maxInput = 1_048_576;
const interruption = new AbortController();

const environment: Environment = {
  variables: process.env,
  isInteractive: () => isatty(0) && isatty(2),
  async ask(question) {
    const { createInterface } = await import("node:readline/promises");
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await lines.question(question);
    } catch {
      return null;
    } finally {
      lines.close();
    }
  },
  async readInput() {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of Bun.stdin.stream()) {
      size += piece.length;
      if (size > maxInput) break;
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("utf8");
  },
  interruption() {
    if (process.listenerCount("SIGINT") === 0)
      for (const signal of ["SIGINT", "SIGTERM"] as const)
        process.on(signal, () => {
          if (interruption.signal.aborted) process.exit(1);
          interruption.abort();
        });
    return interruption.signal;
  },
};

/**
 * What a pipe has not taken yet would be lost with the process. Streams are opened by their first text: that costs memory,
 * which the daemon does not need.
 */
const taken = new Map<NodeJS.WriteStream, Promise<void>>();
function write(stream: NodeJS.WriteStream, text: string): void {
  // A reader that has gone, as `head` does, ends the program.
  if (!taken.has(stream)) stream.on("error", () => process.exit(1));
  taken.set(stream, new Promise((done) => stream.write(text, () => done())));
}

// `svc edge ls` and `svc-edge ls` are the same.
const words = process.argv.slice(2);
const own = words[0] === "edge" ? words.slice(1) : words;
const code = await runCommand({ name: "svc edge", version: programVersion, verbs }, own, environment, {
  out: (text) => write(process.stdout, text),
  error: (text) => write(process.stderr, text),
});
await Promise.all(taken.values());
process.exit(code);
