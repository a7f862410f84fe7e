/** The process as verbs see it: its variables and its terminal, both replaceable in tests. */

export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** A person sits at it: questions may be asked. */
  readonly isInteractive: boolean;
  /** Asks a question on the terminal. @returns the answer's text; null where the terminal was closed */
  readonly ask: (question: string) => Promise<string | null>;
  /** All of standard input, at most a megabyte of it. */
  readonly readInput: () => Promise<string>;
  /** Aborted by Ctrl-C and SIGTERM. A verb that listens decides itself what then ends. */
  readonly interrupted: AbortSignal;
}

/** The value of a variable; null when it is absent or empty. */
export const variable = ({ variables }: Pick<Environment, "variables">, name: string): string | null =>
  variables[name] || null;

/** Asks for a yes; without a terminal there is none to ask, and the command line counts as meant. */
export async function confirm(environment: Environment, question: string): Promise<boolean> {
  if (!environment.isInteractive) return true;
  return /^y(?:es)?$/i.test((await environment.ask(`${question} [y/N] `))?.trim() ?? "");
}
