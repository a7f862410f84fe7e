/** Work on many rows, some at once, for as long as there are any. */

export interface Portions<Row> {
  /** Rows behind the given one, in a fixed order; from the first when it is null. */
  find(after: Row | null, limit: number): Promise<readonly Row[]>;
  /** Whether the row is for this node: others do theirs. */
  isMine(row: Row): boolean;
  work(row: Row): Promise<unknown>;
  /** Ahead of the work on a portion, for what is cheaper for all of its rows than for each. */
  prepare?(rows: readonly Row[]): Promise<void>;
  /** Rows of a portion: they are under way at once. */
  readonly atOnce: number;
  /** Portions under way side by side, so that one is made ready while another is worked on; 1 when left out. */
  readonly sideBySide?: number;
  /** Waited between one portion and the next, for work that is only handed over, ms. */
  readonly pauseMs?: number;
}

const pageSize = 1_000;

/**
 * Ends when no row is left, or after the portion under way once it is to stop.
 * @returns how many rows were done
 * @throws what the work on one of them throws; the rest is for the next time
 */
export async function inPortions<Row>(
  { find, isMine, work, prepare, atOnce, sideBySide = 1, pauseMs = 0 }: Portions<Row>,
  isStopping: () => boolean,
): Promise<number> {
  let done = 0;
  for (let after: Row | null = null; ; ) {
    const page: readonly Row[] = await find(after, pageSize);
    const mine = page.filter(isMine);
    let start = 0;
    const inTurn = async (): Promise<void> => {
      while (start < mine.length && !isStopping()) {
        const portion = mine.slice(start, start + atOnce);
        start += atOnce;
        try {
          await prepare?.(portion);
          await Promise.all(portion.map(work));
        } catch (error) {
          // The other side begins no portion any more, and is waited for: nothing goes on behind a round that has ended.
          start = mine.length;
          throw error;
        }
        done += portion.length;
        if (pauseMs > 0) await Bun.sleep(pauseMs);
      }
    };
    const sides = await Promise.allSettled(Array.from({ length: sideBySide }, inTurn));
    const failed = sides.find((side) => side.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    after = page.at(-1) ?? null;
    if (page.length < pageSize || after === null || isStopping()) return done;
  }
}
