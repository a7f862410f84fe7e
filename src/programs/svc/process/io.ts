/** The process as the command line sees it: streams, terminal, variables. All of it can be replaced in tests. */

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Answers and results. */
  readonly out: (text: string) => void;
  /** Bytes to standard output, as they are. */
  readonly write: (bytes: ReadableStream<Uint8Array> | null) => Promise<void>;
  /** Remarks, progress, questions, failures. */
  readonly err: (text: string) => void;
  /** Whether standard output is a terminal: tables fit its width, times are relative, lists may be drawn anew. */
  readonly isTerminal: boolean;
  /** Whether standard error is one: progress may be drawn over itself. */
  readonly isErrTerminal: boolean;
  /** A person sits at it: questions may be asked. */
  readonly isInteractive: boolean;
  /** Width of the terminal, in columns. */
  readonly columns: number;
  /** Where relative paths begin. */
  readonly directory: string;
  /** Asks a question on the terminal. @returns null where the terminal was closed */
  readonly ask: (question: string) => Promise<string | null>;
  /** All of standard input. @throws Failure `usage` for more than 64 MiB */
  readonly readInput: () => Promise<string>;
  /** Aborted by Ctrl-C and SIGTERM, which do not end the program any more once this was asked for. */
  readonly interruption: () => AbortSignal;
  /** Runs another program with this terminal, an editor or a browser. @returns its exit code; null: it cannot be started */
  readonly start: (command: readonly string[]) => Promise<number | null>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The value of a variable; null when it is absent or empty. */
export const variable = ({ env }: Pick<Io, "env">, name: string): string | null => env[name] || null;
