/** How the command line ends: a closed table of exit codes, and the failure that leads to one. */

export const exits = {
  ok: 0,
  /** Hosts or commands failed, or anything that has no code of its own. */
  failed: 1,
  usage: 2,
  authentication: 3,
  /** The state does not allow it, or what is named does not exist. */
  conflict: 4,
  unavailable: 5,
  halted: 6,
  cancelled: 7,
  deadline: 8,
  minimum: 9,
} as const;

export type Exit = keyof typeof exits;

/** Ends the program with a message for people and a code for programs. */
export class Failure extends Error {
  override readonly name = "Failure";
  constructor(
    readonly exit: Exit,
    message: string,
    /** A word for programs: the service's code, or one of the command line's own. */
    readonly code: string = exit,
  ) {
    super(message);
  }
}

export const usageFailure = (message: string): Failure => new Failure("usage", message);
