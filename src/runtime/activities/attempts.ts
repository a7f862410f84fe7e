/** Runs one piece of work until it has an outcome; the type of an error decides about repeats. */

import type { Outcome } from "../../../actors/kernel/activity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { faultIn } from "../definition.ts";
import { type Activity, type ActivityContext, Retryable, Terminal } from "../port.ts";
import type { Work } from "./fair-queue.ts";

export interface AttemptsOptions {
  context(resumed: boolean): ActivityContext;
  /** Called before each attempt. */
  begins(): void;
  /** Called after each attempt that is not the end of it. */
  failed(error: string): Promise<void>;
  readonly random: () => number;
}

/** The outcome, or null when the work was cut off. */
export async function runAttempts(
  work: Work,
  activity: Activity,
  signal: AbortSignal,
  options: AttemptsOptions,
): Promise<Outcome | null> {
  const input = JSON.parse(work.input) as Json;
  const fault = faultIn(activity.definition.input, input);
  if (fault !== null) return { id: work.id, ok: false, code: "invalid_input", message: fault };
  return attempt(work, input, activity, signal, options);
}

async function attempt(
  work: Work,
  input: Json,
  activity: Activity,
  signal: AbortSignal,
  options: AttemptsOptions,
): Promise<Outcome | null> {
  const { id } = work;
  for (let resumed = work.resumed; ; resumed = true) {
    work.attempt++;
    try {
      options.begins();
      const value = await activity.run(input, options.context(resumed));
      return signal.aborted ? null : { id, ok: true, value };
    } catch (error) {
      if (signal.aborted) return null;
      if (error instanceof Terminal) return terminal(id, error);
      const message = error instanceof Error ? error.message : String(error);
      await options.failed(message);
      if (work.attempt >= activity.retry.attempts) {
        return { id, ok: false, code: "attempts_exhausted", message: shownMessage(error, message) };
      }
      await pause(backoff(activity, work.attempt, error, options.random()), signal);
      if (signal.aborted) return null;
    }
  }
}

/**
 * What an outcome says of an error: those of the operating system and of the stores name paths, addresses and statements of
 * the node, which are for its log alone.
 */
function shownMessage(error: unknown, message: string): string {
  if (!(error instanceof Error)) return message;
  const isSystems =
    "syscall" in error || "errno" in error || error.name === "PostgresError" || error.name === "ReplyError";
  if (!isSystems) return message;
  return "code" in error && typeof error.code === "string"
    ? `An error of the node (${error.code})`
    : "An error of the node";
}

function terminal(id: string, { code, message, details }: Terminal): Outcome {
  const failure = { id, ok: false, code, message } as const;
  return details === undefined ? failure : { ...failure, details };
}

/** Ends early when the work is cut off. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    }
    signal.addEventListener("abort", finish);
  });
}

const longestPauseMs = 60_000;

/** Full jitter, doubling per attempt; a stated delay is a lower bound. */
function backoff(activity: Activity, attempt: number, error: unknown, random: number): number {
  const ceiling = Math.min(longestPauseMs, activity.retry.firstDelayMs * 2 ** (attempt - 1));
  const jittered = ceiling * (0.5 + random / 2);
  return error instanceof Retryable && error.afterMs !== null ? Math.max(error.afterMs, jittered) : jittered;
}
