/** Waiting for something that may never come, but not for ever; trying what must succeed in the end. */

/** Resolves when the work has ended, either way, or its time is over; says whether it succeeded in time. */
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

/** Repeats until it works, or until `hopeless` says so; tells which. What is left undone is in the store for the next owner. */
export async function insist(act: () => Promise<void>, hopeless: () => boolean): Promise<boolean> {
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 2)) {
    try {
      await act();
      return true;
    } catch {
      if (hopeless()) return false;
      await Bun.sleep(pause);
    }
  }
}
