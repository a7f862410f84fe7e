/** Reading anew what is not known yet, without a read for everyone who asks. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * @param look   reads what there is
 * @param leastMs between the beginnings of two reads
 * @returns waits for a read that begins after the call; those who wait at once share one. It rejects as the read does
 */
export function lookingTogether(look: () => Promise<void>, leastMs: number): () => Promise<void> {
  let beganAt = Number.NEGATIVE_INFINITY;
  /** A read that has not begun. */
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  async function begin(): Promise<void> {
    await last.catch(() => {});
    const waitMs = beganAt + leastMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    next = null;
    beganAt = performance.now();
    await look();
  }

  return () => {
    if (next === null) {
      next = begin();
      last = next;
    }
    return next;
  };
}
