/** The process as verbs see it: its variables and its terminal, both replaceable in tests. */
import { plain } from "./output.ts";

export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** A person sits at it: questions may be asked. */
  readonly isInteractive: () => boolean;
  /** Asks a question on the terminal. @returns the answer's text; null where the terminal was closed */
  readonly ask: (question: string) => Promise<string | null>;
  /** All of standard input, at most a megabyte of it. */
  readonly readInput: () => Promise<string>;
  /**
   * Another token in place of one that was refused, where the caller signed in; null: there is none. Without it the one of
   * SVC_USER_TOKEN is all there is.
   */
  readonly renewToken?: (refused: string) => Promise<string | null>;
  /** Why SVC_USER_TOKEN is not there, where more is known than that nothing named one. */
  readonly noToken?: Error;
  /** Aborted by Ctrl-C and SIGTERM, which do not end the program any more once a verb has asked for it. */
  readonly interruption: () => AbortSignal;
}

/** The value of a variable; null when it is absent or empty. */
export const variable = ({ variables }: Pick<Environment, "variables">, name: string): string | null =>
  variables[name] || null;

/** Asks for a yes; without a terminal there is none to ask, and the command line counts as meant. */
export async function confirm(environment: Environment, question: string): Promise<boolean> {
  if (!environment.isInteractive()) return true;
  return /^y(?:es)?$/i.test((await environment.ask(plain(`${question} [y/N] `)))?.trim() ?? "");
}
