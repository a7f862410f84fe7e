/**
 * When to measure what a directory holds. Measuring reads every entry; how full its file system is can be asked for the
 * price of one call, and a directory has not grown by more than its file system has. What was freed meanwhile hides
 * growth, so it is measured from time to time in any case.
 */
import { statfsSync } from "node:fs";

/** How often `isDue` should be asked, ms. */
export const glanceMs = 100;
/** Growth that is not worth measuring for. */
const leastBytes = 8 * 2 ** 20;
/** What each entry counts for at least: file systems run out of them, too. */
const entryBytes = 1_024;
/** A measurement that takes long is repeated after this many times as long, unless its interval is over. */
const pauseShare = 2;

export class DiskGrowth {
  #room: number;
  #usedAtBegin: Usage | null;
  #begunAt: number;
  #notBefore = Number.NEGATIVE_INFINITY;

  /**
   * @param path of the directory, or of one on the same file system
   * @param everyMs measured at least as often
   * @param room bytes that are taken to be free at first; null: it is measured at once
   */
  constructor(
    readonly path: string,
    readonly everyMs: number,
    room: number | null,
  ) {
    this.#room = room ?? 0;
    this.#begunAt = room === null ? Number.NEGATIVE_INFINITY : performance.now();
    this.#usedAtBegin = room === null ? null : usageOf(path);
  }

  /** True when the time is over, or when the directory may have outgrown the room that it had. */
  isDue(): boolean {
    const now = performance.now();
    if (now - this.#begunAt >= this.everyMs) return true;
    if (now < this.#notBefore || this.#usedAtBegin === null) return false;
    const [before, used] = [this.#usedAtBegin, usageOf(this.path)];
    if (used === null) return false;
    const grown = Math.max(used.bytes - before.bytes, (used.entries - before.entries) * entryBytes);
    return grown >= Math.max(leastBytes, this.#room);
  }

  /**
   * Measures.
   * @param measure gives the bytes that may still be written; null when that cannot be told
   */
  async measuring(measure: () => Promise<number | null>): Promise<void> {
    this.#begunAt = performance.now();
    this.#usedAtBegin = usageOf(this.path);
    const room = await measure();
    const now = performance.now();
    this.#room = room ?? 0;
    this.#notBefore = now + pauseShare * (now - this.#begunAt);
  }
}

interface Usage {
  readonly bytes: number;
  readonly entries: number;
}

function usageOf(path: string): Usage | null {
  try {
    const { blocks, bfree, bsize, files, ffree } = statfsSync(path);
    return { bytes: (blocks - bfree) * bsize, entries: files - ffree };
  } catch {
    return null;
  }
}
