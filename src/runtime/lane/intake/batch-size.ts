/**
 * How many messages a batch takes. The states of all its actors are in memory at once, and their sizes are known only
 * when they are there: batches begin small, grow while they are light, and shrink when they were heavy.
 */

const first = 16;
/** Characters of the states of a batch that is heavy. */
const heavy = 16 * 1024 * 1024;

export class BatchSize {
  private size: number;

  constructor(private readonly most: number) {
    this.size = Math.min(first, most);
  }

  get current(): number {
    return this.size;
  }

  /** After a batch that failed: one that took too long should take less. */
  shrink(): void {
    this.size = Math.max(1, this.size >> 1);
  }

  /** @param states characters of the states of the actors that the last batch had in memory */
  note(states: number): void {
    this.size = states > heavy ? Math.max(1, this.size >> 1) : Math.min(this.most, this.size * 2);
  }
}
