/** How much a server may say that nothing asked for: more than any use of it, less than what keeps a node busy. */

/** A bucket that fills as time goes by. */
class Budget {
  #left: number;
  #at = performance.now();

  /** @param perSecond what comes back each second @param burst the most there can be */
  constructor(
    readonly perSecond: number,
    readonly burst: number,
  ) {
    this.#left = burst;
  }

  /** @returns false when there was not so much left */
  take(amount: number): boolean {
    const now = performance.now();
    this.#left = Math.min(this.burst, this.#left + ((now - this.#at) / 1_000) * this.perSecond);
    this.#at = now;
    this.#left -= amount;
    return this.#left >= 0;
  }
}

/** Messages beside answers: progress, logs, news of lists. */
export const messageBudget = () => new Budget(200, 2_000);
/** Bytes that are no message: what a program prints to its standard output. */
export const noiseBudget = () => new Budget(1_024 * 1_024, 16 * 1_024 * 1_024);
/** Bytes of standard error. */
export const logBudget = () => new Budget(512 * 1_024, 4 * 1_024 * 1_024);
