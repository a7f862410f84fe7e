/**
 * Pieces of work that cost the main thread something are done one after the other: many of them come in the same moment,
 * and each alone is bounded, but nothing else would be answered between them. Between two of them everything else gets
 * its time, and three times as long as the last one took; their owners go in turn.
 */

interface Waiting {
  readonly begin: () => void;
  readonly restMs: number;
}

/** What waits of one owner. */
type Line = Waiting[];

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

  /**
   * Resolves when it is the caller's turn, which lasts until the caller waits for something.
   * @param restMs the least pause after it, for work that goes on later
   */
  async take(owner: string, restMs = 0): Promise<void> {
    await new Promise<void>((begin) => {
      const line = this.lines.get(owner);
      if (line === undefined) this.lines.set(owner, [{ begin, restMs }]);
      else line.push({ begin, restMs });
      if (!this.isBusy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const began = performance.now();
      next.begin();
      await new Promise<void>((resolve) => setImmediate(resolve));
      const tookMs = performance.now() - began;
      const pauseMs = Math.max(next.restMs, tookMs >= 1 ? Math.min(longestPauseMs, pauseFactor * tookMs) : 0);
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
    this.isBusy = false;
  }

  private next(): Waiting | undefined {
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
