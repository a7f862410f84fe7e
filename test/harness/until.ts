/** Waiting in tests: poll for what must become true, never sleep and hope. */

export interface UntilOptions {
  /** Default 30,000: only a failure takes so long. */
  readonly timeoutMs?: number;
  /** What is waited for; named in the failure. */
  readonly what?: string;
  /** Pause between two looks; default 10. */
  readonly everyMs?: number;
}

type Falsy = false | null | undefined | 0 | "";

/**
 * Looks again and again until the condition yields something truthy, and returns that.
 * An error thrown by the condition counts as "not yet" and is named when time is up.
 */
export async function until<T>(
  condition: () => T | Falsy | Promise<T | Falsy>,
  { timeoutMs = 30_000, what = "the condition", everyMs = 10 }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${what}; last seen: ${Bun.inspect(last)}`);
    }
    await Bun.sleep(everyMs);
  }
}
