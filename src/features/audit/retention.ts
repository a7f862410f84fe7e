/** The end of old entries. Runs at boot and every hour on every node; nodes take different entries. */
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";

export interface AuditRetentionOptions {
  readonly sql: Sql;
  /** SVC_AUDIT_LOG_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
  /** Rows of other features that are kept as long as the log. */
  readonly others: readonly EraseOlder[];
}

/** Erases at most `limit` rows of before a moment, those first that are the oldest. @returns how many */
export type EraseOlder = (before: Date, limit: number) => Promise<number>;

const everyMs = 3_600_000;
const dayMs = 86_400_000;
/** Entries per statement: none locks the table for long. */
const atOnce = 2_000;

/** @returns a function that ends it, after a round under way */
export function startAuditRetention(options: AuditRetentionOptions): () => Promise<void> {
  const round = async () => {
    const count = await eraseOldEntries(options);
    if (count > 0) options.report("audit_entries_erased", { count });
    let others = 0;
    for (const erase of options.others) others += await inStatements(options, erase);
    if (others > 0) options.report("old_histories_erased", { count: others });
  };
  return repeatedly(everyMs, round, (error) => options.report("audit_retention_failed", { error: String(error) }));
}

/** @returns how many went @throws when the database is away; what is left goes next time */
export function eraseOldEntries({ sql, ...age }: Age & Pick<AuditRetentionOptions, "sql">): Promise<number> {
  return inStatements(age, async (before, limit) => {
    const { count } = await sql`
      delete from audit_entries where id in (
        select id from audit_entries where at < ${before} order by at limit ${limit} for update skip locked)`;
    return count;
  });
}

type Age = Pick<AuditRetentionOptions, "retentionDays" | "now">;

async function inStatements({ retentionDays, now }: Age, erase: EraseOlder): Promise<number> {
  const before = new Date(now() - retentionDays * dayMs);
  for (let erased = 0; ; ) {
    const count = await erase(before, atOnce);
    erased += count;
    if (count < atOnce) return erased;
  }
}
