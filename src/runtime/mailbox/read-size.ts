/**
 * How many entries of each mailbox a read takes. Redis bounds a read in entries only, and their sizes are known when they
 * are here: reads begin with few entries, take more while they are light, and no more than the largest entries seen lately
 * allow.
 */

const first = 4;
/** Characters that a read may bring. */
const heavy = 8 * 1024 * 1024;

export class ReadSize {
  private count: number;
  /** Characters of the largest entry of the last reads; it fades. */
  private largest = 0;

  constructor(private readonly most: number) {
    this.count = Math.min(first, most);
  }

  /** @param streams how many are read at once */
  of(streams: number): number {
    const bySize = Math.floor(heavy / (Math.max(1, streams) * Math.max(1, this.largest)));
    return Math.max(1, Math.min(this.count, bySize));
  }

  /** Notes what a read brought. */
  note(sizes: Iterable<number>): void {
    let sum = 0;
    this.largest *= 0.9;
    for (const size of sizes) {
      sum += size;
      if (size > this.largest) this.largest = size;
    }
    this.count = sum > heavy ? Math.max(1, this.count >> 2) : Math.min(this.most, this.count * 2);
  }

  /** After partitions came whose mailboxes may hold anything. */
  reset(): void {
    this.count = Math.min(first, this.most);
  }
}
