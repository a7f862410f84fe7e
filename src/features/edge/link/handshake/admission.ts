/**
 * How many daemons may begin in a second: the rest comes back later, so that those that are in are served. Where thousands
 * come at once they are told before they speak, which costs least.
 */

export interface Admission {
  /** @returns whether one more may now */
  admits(): boolean;
  /** For how long one that may not is sent away, ms: the more were, the longer. */
  retryAfterMs(): number;
}

/** Bounds of the time that a daemon is sent away for, ms. */
const away = { leastMs: 1_000, mostMs: 30_000 };
/** Of that time, either way. */
const jitter = 0.1;

/**
 * @param now steady, ms
 * @param random from 0 to 1
 */
export function admission(perSecond: number, now: () => number, random: () => number = Math.random): Admission {
  let left = perSecond;
  let at = now();
  /** Those that were sent away and are to come back, as many as the time since may have admitted taken off. */
  let owed = 0;

  function pass(): void {
    const time = now();
    const admitted = ((time - at) / 1000) * perSecond;
    left = Math.min(perSecond, left + admitted);
    owed = Math.max(0, owed - admitted);
    at = time;
  }

  return {
    admits() {
      pass();
      if (left < 1) return false;
      left -= 1;
      return true;
    },
    retryAfterMs() {
      pass();
      owed += 1;
      // One behind the other, so that a second look seldom fails and none waits for long where few were sent away.
      const turn = ((owed * 1000) / perSecond) * (1 + jitter * (2 * random() - 1));
      return Math.floor(Math.min(away.mostMs, away.leastMs + turn));
    },
  };
}
