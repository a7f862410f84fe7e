/**
 * When to measure what a directory holds. Measuring reads every entry; how full its file system is can be asked for the
 * price of one call, and a directory has not grown by more than its file system has. What was freed meanwhile hides
 * growth, so those that write are asked as well where they are known, and it is measured from time to time in any case.
 * The less room there is, the more often all of this is asked.
 */
import { statfsSync } from "node:fs";

/** The longest and the shortest time between two looks at a file system, ms. */
const glanceMs = { most: 50, least: 8 };
/** What is taken to be written at most, bytes a millisecond: half the room may go between two looks. */
const bytesPerMs = 4 * 2 ** 20;
/** Growth that is not worth measuring for. */
const leastBytes = 8 * 2 ** 20;
/** Those that write are asked no more often than this, ms. */
const askedMs = 20;
/** What each entry counts for at least: file systems run out of them, too. */
const entryBytes = 1_024;
/** A measurement beside which writing goes on is repeated after this many times as long, unless its interval is over. */
const pauseShare = 2;
/**
 * Of the time, what may be spent standing still: at most so much at once, and in the long run one part of so many. Others
 * that fill the same file system could otherwise have an instance stand still for good.
 */
const held = { mostMs: 1_000, oneOf: 10 };

/** Does the work while nothing is written. */
export type Hold = <T>(work: () => Promise<T>) => Promise<T>;

export class DiskGrowth {
  #room: number;
  #usedAtBegin: Usage | null;
  #seen: Usage | null;
  #begunAt: number;
  #notBefore = Number.NEGATIVE_INFINITY;
  #glance = glanceMs.least;
  #writtenAtBegin = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #mayHoldMs = held.mostMs;
  #heldAt = performance.now();

  /**
   * @param path of the directory, or of one on the same file system
   * @param everyMs measured at least as often
   * @param room bytes that are taken to be free at first; null: it is measured at once
   * @param written bytes that were written so far into this directory and others, by those that write to it
   */
  constructor(
    readonly path: string,
    readonly everyMs: number,
    room: number | null,
    readonly written: () => number = () => 0,
  ) {
    this.#room = room ?? 0;
    this.#begunAt = room === null ? Number.NEGATIVE_INFINITY : performance.now();
    this.#usedAtBegin = room === null ? null : usageOf(path);
    this.#seen = this.#usedAtBegin;
  }

  /** When to ask `due` again, ms. */
  get glanceMs(): number {
    return this.#glance;
  }

  /** Why to measure: the time is over, or the directory may have outgrown the room that it had. */
  due(): "time" | "growth" | null {
    const now = performance.now();
    const used = usageOf(this.path);
    this.#choose(used);
    if (this.#usedAtBegin !== null && used !== null && now >= this.#notBefore) {
      const enough = Math.max(leastBytes, this.#room);
      if (grownBy(this.#usedAtBegin, used) >= enough || this.#hasWritten(enough, now)) return "growth";
    }
    return now - this.#begunAt >= this.everyMs ? "time" : null;
  }

  /**
   * Measures.
   * @param measure gives the bytes that may still be written; null when that cannot be told
   * @param hold of what writes; used where there is reason to and it was not too often
   */
  async measuring(measure: () => Promise<number | null>, hold: Hold | null = null): Promise<void> {
    const begun = performance.now();
    this.#begunAt = begun;
    this.#mayHoldMs = Math.min(held.mostMs, this.#mayHoldMs + (begun - this.#heldAt) / held.oneOf);
    this.#heldAt = begun;
    const holds = hold !== null && this.#mayHoldMs > 0;
    const work = async () => {
      this.#usedAtBegin = usageOf(this.path);
      this.#writtenAtBegin = this.written();
      return measure();
    };
    const room = holds ? await hold(work) : await work();
    const now = performance.now();
    this.#room = Math.max(0, room ?? 0);
    if (holds) this.#mayHoldMs -= now - begun;
    else this.#notBefore = now + pauseShare * (now - begun);
    this.#glance = glanceMs.least;
  }

  #hasWritten(bytes: number, now: number): boolean {
    if (now - this.#askedAt < askedMs) return false;
    this.#askedAt = now;
    return this.written() - this.#writtenAtBegin >= bytes;
  }

  /** The sooner the less room there is; seldom where nothing at all is written. */
  #choose(used: Usage | null): void {
    const before = this.#seen;
    this.#seen = used;
    if (before !== null && used !== null && grownBy(before, used) <= 0) {
      this.#glance = Math.min(glanceMs.most, this.#glance * 2);
      return;
    }
    const left = this.#room - (this.#usedAtBegin && used ? grownBy(this.#usedAtBegin, used) : 0);
    this.#glance = Math.min(glanceMs.most, Math.max(glanceMs.least, left / 2 / bytesPerMs));
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

const grownBy = (before: Usage, used: Usage): number =>
  Math.max(used.bytes - before.bytes, (used.entries - before.entries) * entryBytes);

/**
 * Looks, and measures where that is due, until it is stopped. @param failed called with what measuring threw; it goes on
 * @returns a function that stops it
 */
export function watchGrowth(
  growth: DiskGrowth,
  measure: () => Promise<number | null>,
  hold: Hold,
  failed: (error: unknown) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isOver = false;
  const look = async (): Promise<void> => {
    const why = growth.due();
    if (why !== null) await growth.measuring(measure, why === "growth" ? hold : null).catch(failed);
    if (!isOver) timer = setTimeout(() => void look(), growth.glanceMs);
  };
  void look();
  return () => {
    isOver = true;
    if (timer !== null) clearTimeout(timer);
  };
}
