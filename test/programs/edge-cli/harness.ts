/** The edge command line within the test's process: words in, exit code and texts out. */
import type { Environment } from "../../../src/programs/svc/edge/command/environment.ts";
import { runCommand } from "../../../src/programs/svc/edge/command/run-command.ts";
import { verbs } from "../../../src/programs/svc/edge/verbs.ts";
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

export interface EdgeOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Answers of a person at a terminal. */
  readonly answers?: readonly string[];
  readonly interrupted?: AbortSignal;
}

export async function edge(words: readonly string[], options: EdgeOptions = {}): Promise<Said> {
  const { env = {}, input = "", answers, interrupted = new AbortController().signal } = options;
  const texts = { out: "", err: "" };
  const left = [...(answers ?? [])];
  const environment: Environment = {
    variables: { PATH: process.env.PATH, ...env },
    isInteractive: () => answers !== undefined,
    ask: async () => left.shift() ?? null,
    readInput: async () => input,
    interruption: () => interrupted,
  };
  const program = { name: "svc edge", version: "0.1.0", verbs };
  const code = await runCommand(program, words, environment, {
    out: (text) => {
      texts.out += text;
    },
    error: (text) => {
      texts.err += text;
    },
  });
  const parsed = (text: string) => {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  };
  return { code, ...texts, json: parsed(texts.out), lines: texts.out.trimEnd().split("\n").map(parsed) };
}
