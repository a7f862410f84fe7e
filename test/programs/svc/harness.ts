/** The command line within the test's process: words in, exit code and texts out. */
import type { Command } from "commander";
import type { Io } from "../../../src/programs/svc/process/io.ts";
import { assemble, run } from "../../../src/programs/svc/program.ts";
import type { LooseJson } from "../../harness/loose-json.ts";

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Standard output as JSON; null where it is none. */
  readonly json: LooseJson;
  /** Each line of standard output as JSON. */
  readonly lines: LooseJson;
}

export interface SvcOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Answers of a person at a terminal. */
  readonly answers?: readonly string[];
  readonly interrupted?: AbortSignal;
  readonly directory?: string;
  /** Standard output is a terminal of so many columns. */
  readonly columns?: number;
  /** Told each text that is written to standard error, as it comes. */
  readonly heard?: (text: string) => void;
  /** Told each text that is written to standard output. */
  readonly printed?: (text: string) => void;
  /** Runs another program: an editor, a browser. */
  readonly start?: (command: readonly string[]) => Promise<number | null>;
  readonly now?: () => number;
}

export function testIo(options: SvcOptions, texts: { out: string; err: string }): Io {
  const { env = {}, input = "", answers, columns, interrupted = new AbortController().signal } = options;
  const left = [...(answers ?? [])];
  return {
    env: { PATH: process.env.PATH, ...env },
    out: (text) => {
      texts.out += text;
      options.printed?.(text);
    },
    async write(bytes) {
      texts.out += await new Response(bytes).text();
    },
    err: (text) => {
      texts.err += text;
      options.heard?.(text);
    },
    isTerminal: columns !== undefined,
    isErrTerminal: columns !== undefined,
    isInteractive: answers !== undefined,
    columns: columns ?? 100,
    directory: options.directory ?? "/",
    ask: async () => left.shift() ?? null,
    readInput: async () => input,
    interruption: () => interrupted,
    start: options.start ?? (async () => null),
    now: options.now ?? Date.now,
  };
}

export async function svc(words: readonly string[], options: SvcOptions = {}): Promise<Said> {
  const texts = { out: "", err: "" };
  const code = await run(words, testIo(options, texts));
  const parsed = (text: string) => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  };
  return { code, ...texts, json: parsed(texts.out), lines: texts.out.trimEnd().split("\n").map(parsed) };
}

/** Every verb of the command line, by its words: `agents list`. */
export async function allVerbs(): Promise<readonly string[]> {
  const root = await assemble(testIo({}, { out: "", err: "" }), () => true);
  const leaves = (command: Command, path: readonly string[]): readonly string[] =>
    command.commands.length === 0
      ? [path.join(" ")]
      : command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
  return leaves(root, []);
}
