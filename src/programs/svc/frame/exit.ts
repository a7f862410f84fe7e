/** How the command line ends: a closed table of exit codes, and what leads to each. */
import { ApiError, Unreachable } from "../../client/errors.ts";

export const exits = {
  ok: 0,
  /** Work itself failed, hosts or commands did, or anything that has no code of its own. */
  failed: 1,
  /** The words are wrong, or what they ask for is invalid. */
  usage: 2,
  /** Not signed in, or not allowed. */
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
    /** A line that says what to do next; null: none. */
    readonly hint: string | null = null,
    /** A word for programs. */
    readonly code: string = exit,
  ) {
    super(message);
  }
}

export const usageFailure = (message: string, hint: string | null = null): Failure =>
  new Failure("usage", message, hint);

const byStatus: Readonly<Record<number, Exit>> = {
  400: "usage",
  401: "authentication",
  403: "authentication",
  404: "conflict",
  409: "conflict",
  410: "conflict",
  412: "conflict",
  413: "usage",
  415: "usage",
  422: "usage",
  429: "unavailable",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};
/** Where the status alone misleads: limits of a plan or of runs do not pass by waiting a moment. */
const byCode: Readonly<Record<string, Exit>> = { quota_exceeded: "failed" };

/** What a failure of any kind means to the command line. */
export function exitOf(error: unknown): Exit {
  if (error instanceof Failure) return error.exit;
  if (error instanceof ApiError) return byCode[error.code] ?? byStatus[error.status] ?? "failed";
  return error instanceof Unreachable ? "unavailable" : "failed";
}
