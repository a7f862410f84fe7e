/**
 * Pieces of work that cost the main thread something are done one after the other: many of them come in the same moment,
 * and each alone is bounded, but nothing else would be answered between them. Between two of them everything else gets
 * its time, and three times as long as the last one took; their owners go in turn.
 */

/** What waits of one owner. */
type Line = (() => void)[];

/**
 * The pause after a turn as a multiple of the turn. An answer to a small request waits for the main thread about eight
 * times; with a quarter of it taken by pieces of 15 ms it is 15 ms late on average, with a half of it 30 ms.
 */
const pauseFactor = 3;
/** The longest pause after a turn, ms: on a busy machine a turn seems long. */
const longestPauseMs = 50;

export class FairTurns {
  /** In the order of their next turn. */
  private readonly lines = new Map<string, Line>();
  private isBusy = false;

  /** Resolves when it is the caller's turn, which lasts until the caller waits for something. */
  async take(owner: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const line = this.lines.get(owner);
      if (line === undefined) this.lines.set(owner, [resolve]);
      else line.push(resolve);
      if (!this.isBusy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const began = performance.now();
      next();
      await new Promise<void>((resolve) => setImmediate(resolve));
      const tookMs = performance.now() - began;
      if (tookMs >= 1) await Bun.sleep(Math.min(longestPauseMs, pauseFactor * tookMs));
    }
    this.isBusy = false;
  }

  private next(): (() => void) | undefined {
    const [first] = this.lines;
    if (first === undefined) return undefined;
    const [owner, line] = first;
    const next = line.shift();
    // To the back of the round, or out of it.
    this.lines.delete(owner);
    if (line.length > 0) this.lines.set(owner, line);
    return next;
  }
}
