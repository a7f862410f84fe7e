/** Timers that Node's own do not offer: far moments, work at intervals, time limits. */
import { setTimeout as sleep } from "node:timers/promises";

const longestMs = 2 ** 31 - 1;

/**
 * Calls once a moment has come; at once when it has passed already. `setTimeout` alone waits 24.8 days at most.
 * @param at  Unix milliseconds
 * @param now Unix milliseconds
 * @returns a function that cancels the call
 */
export function callAt(at: number, now: () => number, call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    const left = at - now();
    timer = setTimeout(left > longestMs ? wait : call, Math.min(longestMs, Math.max(0, left)));
  };
  wait();
  return () => clearTimeout(timer);
}

/**
 * Does the work at once, and again each time the interval has passed since it ended.
 * @param intervalMs milliseconds
 * @param failed called with what the work threw; the next round takes up what was left
 * @returns a function that stops it and resolves after a round under way
 */
export function repeatedly(
  intervalMs: number,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const stop = new AbortController();
  const rounds = (async () => {
    do await work().catch(failed);
    while (await sleep(intervalMs, true, { signal: stop.signal }).catch(() => false));
  })();
  return () => {
    stop.abort();
    return rounds;
  };
}

/**
 * The result of the work, or the given error once the time is over; the work itself goes on.
 * @param ms milliseconds
 * @throws what the work throws, or `late()`
 */
export function withTimeout<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  // Runs for each command of Redis: one promise and one timer, no race.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), ms);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Resolves when the work has ended, either way, or after `ms`; the wait keeps no process alive. Never rejects. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => {}), sleep(ms, undefined, { ref: false })]);
}

/** The result of the work, or the signal's reason once it aborts; the work itself goes on. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
