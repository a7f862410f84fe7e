/** The end of old entries. Runs at boot and every hour on every node; nodes take different chains. */
import { repeatedly } from "../../lib/timers.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

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
/** Rows per statement: none locks a table for long. */
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

/**
 * Entries go from the beginning of their tenant's chain, which then begins behind them.
 * @returns how many went
 * @throws when the database is away; what is left goes next time
 */
export async function eraseOldEntries({ sql, ...age }: Age & Pick<AuditRetentionOptions, "sql">): Promise<number> {
  const before = beginOf(age);
  for (let erased = 0; ; ) {
    const count = await sql.begin((tx) => eraseOfOneChain(tx, before));
    if (count === null) return erased;
    erased += count;
  }
}

interface Kept {
  readonly sequence: number;
  readonly at: Date;
  readonly chain: Buffer;
}

/** @returns how many entries of a chain went; null: no chain has any that is so old, or other nodes are about them */
async function eraseOfOneChain(tx: Transaction, before: Date): Promise<number | null> {
  const [chain] = await tx<{ tenant: string; first: number }[]>`
    select tenant, first_sequence::float8 as first, set_config('svc.audit_change', 'retention', true)
    from audit_chains where first_at < ${before} order by first_at limit 1 for update skip locked`;
  if (chain === undefined) return null;
  const { tenant, first } = chain;
  const [{ from }] = await tx<[{ from: number | null }]>`
    select min(sequence)::float8 as from from audit_entries where tenant = ${tenant} and sequence >= ${first}`;
  const entries = await tx<Kept[]>`
    select sequence::float8 as sequence, at, chain from audit_entries
    where tenant = ${tenant} and sequence between ${from} and ${(from ?? 0) + atOnce} order by sequence`;
  const young = entries.findIndex(({ at }) => at >= before);
  const count = Math.min(atOnce, young === -1 ? entries.length : young);
  const last = entries[count - 1];
  if (last !== undefined) {
    await tx`delete from audit_entries where tenant = ${tenant} and sequence between ${first} and ${last.sequence}`;
    await tx`
      update audit_chains set first_sequence = ${last.sequence + 1}, anchor = ${last.chain} where tenant = ${tenant}`;
  }
  await tx`update audit_chains set first_at = ${entries[count]?.at ?? null} where tenant = ${tenant}`;
  return count;
}

type Age = Pick<AuditRetentionOptions, "retentionDays" | "now">;

const beginOf = ({ retentionDays, now }: Age): Date => new Date(now() - retentionDays * dayMs);

async function inStatements(age: Age, erase: EraseOlder): Promise<number> {
  const before = beginOf(age);
  for (let erased = 0; ; ) {
    const count = await erase(before, atOnce);
    erased += count;
    if (count < atOnce) return erased;
  }
}
