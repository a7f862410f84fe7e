/** Changes of rows that are asked for one at a time and written many at a time. */

export interface BatchLimits {
  /** Of one statement. */
  readonly rows: number;
  /** Under way at once: while one is flushed the next one fills. */
  readonly statements: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Wraps a change of many as a change of one. What is asked for in one turn of the event loop goes together, and so does
 * what gathers while as many statements as allowed are under way.
 * @param write answers for each item, in their order; where it throws, every item failed
 */
export function inBatches<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
  { rows, statements }: BatchLimits,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || underWay >= statements || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      while (underWay < statements && waiting.length > 0) {
        const batch = waiting.slice(0, rows);
        waiting = waiting.slice(rows);
        void run(batch);
      }
    });
  }

  async function run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    underWay += 1;
    try {
      const results = await write(batch.map(({ item }) => item));
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      underWay -= 1;
      schedule();
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
