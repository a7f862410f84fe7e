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
}

const everyMs = 3_600_000;
const dayMs = 86_400_000;
/** Entries per statement: none locks the table for long. */
const atOnce = 2_000;

/** @returns a function that ends it, after a round under way */
export function startAuditRetention(options: AuditRetentionOptions): () => Promise<void> {
  const round = async () => {
    const count = await eraseOldEntries(options);
    if (count > 0) options.report("audit_entries_erased", { count });
  };
  return repeatedly(everyMs, round, (error) => options.report("audit_retention_failed", { error: String(error) }));
}

/** @returns how many went @throws when the database is away; what is left goes next time */
export async function eraseOldEntries({
  sql,
  retentionDays,
  now,
}: Pick<AuditRetentionOptions, "sql" | "retentionDays" | "now">): Promise<number> {
  const before = new Date(now() - retentionDays * dayMs);
  for (let erased = 0; ; ) {
    const { count } = await sql`
      delete from audit_entries where id in (
        select id from audit_entries where at < ${before} order by at limit ${atOnce} for update skip locked)`;
    erased += count;
    if (count < atOnce) return erased;
  }
}
