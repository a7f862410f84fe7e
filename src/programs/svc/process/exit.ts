/** What ends a command line early: a failure of its own, or what the service or the way to it said. */
import { ApiError, Unreachable } from "../../client/errors.ts";
import { type Exit, exitOfRefusal } from "./exits.ts";

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

/** What a failure of any kind means to the command line. */
export function exitOf(error: unknown): Exit {
  if (error instanceof Failure) return error.exit;
  if (error instanceof ApiError) return exitOfRefusal(error.status, error.code);
  return error instanceof Unreachable ? "unavailable" : "failed";
}
