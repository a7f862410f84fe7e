/** When lessons are folded, and when what was learned is forgotten. */
import { repeatedly } from "../../lib/timers.ts";
import { type FoldOptions, foldLessons } from "./fold.ts";

export interface CortexWorkOptions extends FoldOptions {
  /** SVC_CORTEX_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix ms. */
  readonly now: () => number;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const everyMs = 1_000;
/** How long after its last lesson a node looks each second; a commit follows its writing within that. */
const awakeMs = 30_000;
/** Lessons of nodes that ended before they folded them. */
const othersEveryMs = 30_000;
const forgetEveryMs = 3_600_000;
const dayMs = 86_400_000;
/** Longer than an execution can take with everything that it may wait for. */
const lossesKeptMs = 60 * dayMs;
/** Rows per statement: none locks a table for long. */
const atOnce = 2_000;

export function createCortexWork(options: CortexWorkOptions) {
  let awakeUntil = 0;
  let lookAgainAt = 0;

  async function fold(): Promise<void> {
    const at = options.now();
    if (at > awakeUntil && at < lookAgainAt) return;
    lookAgainAt = at + othersEveryMs;
    while (await foldLessons(options));
  }

  return {
    /** This node writes a lesson. */
    written(): void {
      awakeUntil = options.now() + awakeMs;
    },
    /** @returns a function that ends it, after a round under way */
    start(): () => Promise<void> {
      const failed = (error: unknown) => options.warn("cortex", { error: String(error) });
      const ends = [repeatedly(everyMs, fold, failed), repeatedly(forgetEveryMs, () => forget(options), failed)];
      return async () => void (await Promise.all(ends.map((end) => end())));
    },
  };
}

async function forget({ sql, now, retentionDays }: CortexWorkOptions): Promise<void> {
  const patternsBefore = new Date(now() - retentionDays * dayMs);
  const lossesBefore = new Date(now() - lossesKeptMs);
  for (const rounds of [
    () => sql`delete from cortex_patterns where ctid = any(array(
      select ctid from cortex_patterns where last_used_at < ${patternsBefore} limit ${atOnce}))`,
    () => sql`delete from cortex_losses where ctid = any(array(
      select ctid from cortex_losses where at < ${lossesBefore} limit ${atOnce}))`,
  ]) {
    while ((await rounds()).count === atOnce);
  }
}
