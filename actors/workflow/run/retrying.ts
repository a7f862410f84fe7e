/** Further attempts at a state that failed, within one visit. */

import { iso } from "../../kernel/time.ts";
import type { Retry } from "../definition/parts.ts";
import type { StateResult } from "./kind.ts";
import { retryTimer } from "./state.ts";
import type { RunTurn } from "./turn.ts";

/** Whether the state at work is tried again instead of coming to this result; then it waits for that. */
export function triesAgain(run: RunTurn, result: StateResult): boolean {
  const { definition } = run;
  // A ContainerRun tries again by itself, within one attempt.
  const retry = definition.kind === "ContainerRun" ? undefined : definition.retry;
  const { entry, name, attempt = 1 } = run.current;
  if (retry === undefined || result.status !== "failed" || attempt >= retry.attempts) return false;
  const error = errorOf(result);
  if (!retry.on.includes("all") && !retry.on.includes(error)) return false;
  const until = run.now + delayOf(retry, attempt);
  run.move({ current: { ...run.current, deadline_at: null, work: { of: "backoff", until, result } } });
  run.schedule(retryTimer(entry), until, "retry_due", { entry });
  run.emit("WorkflowStateRetried", {
    message: `${name} failed (${error}) and is tried again`,
    state_name: name,
    details: { state_name: name, attempt: attempt + 1, error, next_at: iso(until) },
  });
  return true;
}

/** The code of a failure. */
function errorOf({ error_code, error, timed_out }: StateResult): string {
  if (typeof error_code === "string") return error_code;
  if (typeof error === "string") return error;
  return timed_out === true ? "timed_out" : "failed";
}

/**
 * How long the attempt after this one waits, ms: the delay times the backoff for each attempt before, at most the
 * greatest delay.
 */
export function delayOf({ delay_ms, backoff, max_delay_ms }: Retry, attempt: number): number {
  return Math.round(Math.min(max_delay_ms, delay_ms * backoff ** (attempt - 1)));
}
