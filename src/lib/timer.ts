/** Timers for moments that are farther away than the clock's own can wait for. */

const longestMs = 2 ** 31 - 1;

/**
 * Calls once a moment has come; at once when it has already.
 * @param at  Unix milliseconds
 * @param now Unix milliseconds
 * @returns a function that calls it off
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
