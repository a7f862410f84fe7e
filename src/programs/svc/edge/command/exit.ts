/** The failure that ends a verb of hosts; its codes are those of the whole command line. */
import { type Exit, exits } from "../../process/exits.ts";

/** The name of a code; one that has none is a failure. */
export const exitNamed = (code: number): Exit =>
  (Object.keys(exits) as Exit[]).find((name) => exits[name] === code) ?? "failed";

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
