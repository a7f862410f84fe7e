/**
 * How much output of running commands this node passes on for an instance in a second. The bootstrap keeps well within
 * it; an instance may run any program in its place.
 */
import { LRUCache } from "lru-cache";

const messagesPerSecond = 8;
/** Twice what a bootstrap sends: its seconds are not ours. */
const bytesPerSecond = 131_072;
/** Instances that are remembered; one that is forgotten has a fresh second. */
const capacity = 4096;

interface Second {
  readonly since: number;
  messages: number;
  bytes: number;
}

export class OutputBudget {
  readonly #seconds = new LRUCache<string, Second>({ max: capacity });

  /** @param now Unix milliseconds */
  constructor(private readonly now: () => number) {}

  /** Whether a message of so many bytes may pass. */
  take(instance: string, bytes: number): boolean {
    const now = this.now();
    const present = this.#seconds.get(instance);
    const isFresh = present === undefined || now - present.since >= 1000;
    const second = isFresh ? { since: now, messages: 0, bytes: 0 } : present;
    if (isFresh) this.#seconds.set(instance, second);
    second.messages += 1;
    if (second.messages > messagesPerSecond || second.bytes + bytes > bytesPerSecond) return false;
    second.bytes += bytes;
    return true;
  }
}
