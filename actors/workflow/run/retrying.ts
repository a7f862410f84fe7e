/** Further attempts at a state that failed, within one visit. */

import { iso } from "../../kernel/time.ts";
import type { Retry } from "../definition/parts.ts";
import type { StateResult } from "./kind.ts";
import { failureOf } from "./rules/conditions.ts";
import { retryTimer } from "./state.ts";
import type { RunTurn } from "./turn.ts";

/** Whether the state at work is tried again instead of coming to this result; then it waits for that. */
export function triesAgain(run: RunTurn, result: StateResult): boolean {
  const { definition } = run;
  // A ContainerRun tries again by itself, within one attempt.
  const retry = definition.kind === "ContainerRun" ? undefined : definition.retry;
  const { entry, name, attempt = 1 } = run.current;
  if (retry === undefined || result.status !== "failed" || attempt >= retry.attempts) return false;
  const error = failureOf(result).code;
  if (!retry.on.includes("all") && !retry.on.includes(error)) return false;
  const until = run.now + delayOf(retry, attempt);
  // Whom its children waited for, and how long its clock stood still, was of this attempt.
  const { waits: _, stands: __, ...current } = run.current;
  run.move({ current: { ...current, deadline_at: null, work: { of: "backoff", until, result } } });
  run.schedule(retryTimer(entry), until, "retry_due", { entry });
  run.emit("WorkflowStateRetried", {
    message: `${name} failed (${error}) and is tried again`,
    state_name: name,
    details: { state_name: name, attempt: attempt + 1, error, failed_at: run.at, next_at: iso(until) },
  });
  return true;
}

/**
 * How long the attempt after this one waits, ms: the delay times the backoff for each attempt before, at most the
 * greatest delay.
 */
export function delayOf({ delay_ms, backoff, max_delay_ms }: Retry, attempt: number): number {
  if (delay_ms === 0) return 0;
  return Math.round(Math.min(max_delay_ms, delay_ms * backoff ** (attempt - 1)));
}
