/** Failures of a state's work in words for people: what failed, how, and why. Its code stands beside, in `error_code`. */

import { lastLines } from "../../../kernel/text.ts";
import type { CommandEnd } from "../activities.ts";
import type { AgentEnd } from "../work.ts";

export interface Failure {
  readonly error: string;
  readonly error_code: string;
}

/**
 * Of an agent that did not complete.
 * @param state whose agent it is
 */
export function agentFailure(state: string, { agent, execution_id, status, error, cause = null }: AgentEnd): Failure {
  const error_code = error ?? `execution_${status}`;
  const isBare = cause === null || cause.trim() === "" || cause === error_code;
  const why = isBare ? error_code : `${error_code}: ${cause}`;
  const told =
    execution_id === null
      ? `The agent ${agent} of ${state} could not be started: ${why}`
      : `The agent ${agent} of ${state} ${verbs[status] ?? "failed"} in execution ${execution_id}: ${why}`;
  return { error: told, error_code };
}

const verbs: { readonly [status: string]: string } = {
  cancelled: "was cancelled",
  timed_out: "ran out of time",
};

/**
 * Of a command that did not succeed.
 * @param what such as `The command of BUILD`
 */
export function commandFailure(what: string, end: CommandEnd): Failure {
  const { error, exit_code, duration_ms, stderr, stdout, warnings } = end;
  const written = lastLines(stderr) || lastLines(stdout);
  const tail = written === "" ? "" : `:\n${written}`;
  if (error === null) {
    return { error: `${what} exited with code ${exit_code}${tail}`, error_code: "command_failed" };
  }
  if (end.timed_out) return { error: `${what} ran out of time after ${duration_ms} ms${tail}`, error_code: error };
  const [reason] = warnings;
  const why = reason === undefined || reason === "" ? error : `${error}: ${reason}`;
  const how = exit_code === null ? "did not come to an end" : `exited with code ${exit_code}`;
  return { error: `${what} ${how} (${why})${tail}`, error_code: error };
}
