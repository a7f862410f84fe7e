/**
 * Runs one piece of work until it has an outcome; the type of an error decides about repeats. While a store or the runtime
 * is away the work waits and is tried again, however often: that says nothing about it.
 */

import type { Outcome } from "../../../actors/kernel/activity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { faultIn } from "../definition.ts";
import { isServiceAway } from "../failures.ts";
import { type Activity, type ActivityContext, Retryable, Terminal } from "../port.ts";
import type { Work } from "./fair-queue.ts";

export interface AttemptsOptions {
  context(resumed: boolean): ActivityContext;
  /** Called before each attempt. */
  begins(): void;
  /** Called after each attempt that failed. */
  failed(error: string): Promise<void>;
  /** Called when an attempt met a store or a runtime that is away; once until one ends in another way. */
  interrupted(error: string): void;
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
  let interruptions = 0;
  for (let resumed = work.resumed; ; resumed = true) {
    work.attempt++;
    try {
      options.begins();
      const value = await activity.run(input, options.context(resumed));
      return signal.aborted ? null : { id, ok: true, value };
    } catch (error) {
      if (signal.aborted) return null;
      const isAway = isServiceAway(error);
      interruptions = isAway ? interruptions + 1 : 0;
      const next = isAway
        ? interrupted(work, error, interruptions, options)
        : await failed(work, activity, error, options);
      if (typeof next !== "number") return next;
      await pause(next, signal);
      if (signal.aborted) return null;
    }
  }
}

/** This attempt does not count. @returns how long to wait for what is away, ms */
function interrupted(work: Work, error: unknown, times: number, { interrupted, random }: AttemptsOptions): number {
  work.attempt--;
  if (times === 1) interrupted(messageOf(error));
  return untilBack(times, random());
}

/** @returns the outcome, or how long to wait for the next attempt, ms */
async function failed(
  work: Work,
  activity: Activity,
  error: unknown,
  options: AttemptsOptions,
): Promise<Outcome | number> {
  const { id } = work;
  if (error instanceof Terminal) return terminal(id, error);
  const message = messageOf(error);
  await options.failed(message);
  if (work.attempt >= activity.retry.attempts) {
    return { id, ok: false, code: "attempts_exhausted", message: shownMessage(error, message) };
  }
  return backoff(activity, work.attempt, error, options.random());
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

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

/** While something of the service is away: work goes on within seconds of its return. Jittered, doubling; ms. */
const untilBack = (interruptions: number, random: number): number =>
  Math.min(2_000, 125 * 2 ** Math.min(interruptions, 5)) * (0.5 + random / 2);

/** Full jitter, doubling per attempt; a stated delay is a lower bound. */
function backoff(activity: Activity, attempt: number, error: unknown, random: number): number {
  const ceiling = Math.min(longestPauseMs, activity.retry.firstDelayMs * 2 ** (attempt - 1));
  const jittered = ceiling * (0.5 + random / 2);
  return error instanceof Retryable && error.afterMs !== null ? Math.max(error.afterMs, jittered) : jittered;
}
