/** Calls that were not made, or failed, as their callers are told of them. */
import type { CallOutcome } from "./messages.ts";

/** @param code stable, such as `rejected_by_person` */
export const callFailure = (tool: string, code: string, message: string): CallOutcome => ({
  outcome: "failed",
  result: { status: "error", isError: true, tool, error: message, code, message },
});

/** The work of making it came to nothing. */
export const notMade = (
  tool: string,
  { code, message }: { readonly code: string; readonly message: string },
): CallOutcome => callFailure(tool, code === "process_died" ? "interrupted" : code, message);
