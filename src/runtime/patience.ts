/** Waiting for something that may never come, but not for ever. */

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
