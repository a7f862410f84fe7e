/** Waiting with a time limit; repeating what must succeed in the end. */

/** Resolves when the work has ended or failed, or its time is over: whether it succeeded in time. */
export async function within(ms: number, work: () => PromiseLike<unknown>): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, false);
    const end = (succeeded: boolean) => {
      clearTimeout(timer);
      resolve(succeeded);
    };
    // Also what is thrown before there is a promise counts as a failure.
    Promise.resolve()
      .then(work)
      .then(
        () => end(true),
        () => end(false),
      );
  });
}

const firstPauseMs = 50;
const longestPauseMs = 1000;

/**
 * Repeats until the work succeeds (true) or `isGivenUp` holds after a failure (false). What is left undone is in the
 * store, where the partition's next owner finds it.
 */
export async function retryUntil(act: () => Promise<void>, isGivenUp: () => boolean): Promise<boolean> {
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 2)) {
    try {
      await act();
      return true;
    } catch {
      if (isGivenUp()) return false;
      await Bun.sleep(pause);
    }
  }
}
