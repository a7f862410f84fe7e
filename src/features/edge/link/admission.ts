/** How many daemons may say hello in a second: the rest comes back later, so that those that are in are served. */

/**
 * @param now steady, ms
 * @returns whether one more may now
 */
export function admission(perSecond: number, now: () => number): () => boolean {
  let left = perSecond;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(perSecond, left + ((time - at) / 1000) * perSecond);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
