/** What a keeper is given to run; one line of JSON through the fifo `assign` of its control directory. */
export interface Assignment {
  readonly argv: readonly string[];
  /** The program's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** File behind standard input, or null for none. */
  readonly stdin: string | null;
  /** True where `argv[0]` may be a name that the environment's PATH finds, and `cwd` may not be there. */
  readonly isCommand: boolean;
}

/** Where the control directory is inside; read-only there, which leaves fifos usable. */
export const controlInside = "/run/svc/control";
/** The keeper reads its assignment here. */
export const assignName = "assign";
/** The keeper keeps this open for writing: whoever reads it learns of its end at once. */
export const aliveName = "alive";
