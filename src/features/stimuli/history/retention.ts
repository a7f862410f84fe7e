/**
 * The end of old stimuli and of keys that no longer count. Runs at boot and every minute on every node; nodes take
 * different rows. What is still to be processed stays, however old it is.
 */

import { firstIdOf } from "../../../../actors/stimulus/ids.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { keptMs } from "../intake/port.ts";

export interface RetentionOptions {
  readonly sql: Sql;
  /** SVC_STIMULUS_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 60_000;
const dayMs = 86_400_000;
/** Rows of one statement: none holds locks for long. */
const atOnce = 2_000;
/** Statements of a round and kind; the next round takes up what they left. */
const maxStatements = 1_000;

/** @returns a function that ends it, after a round under way */
export function startStimulusRetention(options: RetentionOptions): () => Promise<void> {
  const round = async () => {
    const erased = await eraseOldStimuli(options);
    if (erased.stimuli + erased.keys > 0) options.report("stimuli_erased", erased);
  };
  return repeatedly(everyMs, round, (error) => options.report("stimulus_retention_failed", { error: String(error) }));
}

/** One round. @returns how many went @throws when the database is away; what is left goes next time */
export async function eraseOldStimuli({ sql, retentionDays, now }: Omit<RetentionOptions, "report">) {
  const keys = await inPortions((limit) => eraseKeys(sql, new Date(now() - keptMs), limit));
  const stimuli = await inPortions((limit) => eraseStimuli(sql, now() - retentionDays * dayMs, limit));
  return { stimuli, keys };
}

async function inPortions(erase: (limit: number) => Promise<number>): Promise<number> {
  let erased = 0;
  for (let statement = 0; statement < maxStatements; statement++) {
    const count = await erase(atOnce);
    erased += count;
    if (count < atOnce) break;
  }
  return erased;
}

/**
 * Each tenant's ids begin with its oldest, so that the table's own order finds what is old; tenants are found by leaping
 * from one to the next. Both cost the same however many rows stay.
 */
async function eraseStimuli(sql: Sql, before: number, limit: number): Promise<number> {
  const { count } = await sql.begin(async (tx) => {
    // All of a tenant's that are old would be gathered and sorted for the first few.
    await tx`set local enable_bitmapscan = off`;
    return tx`
    with recursive tenants as (
      (select tenant from stimuli order by tenant limit 1)
      union all
      select (select s.tenant from stimuli s where s.tenant > t.tenant order by s.tenant limit 1)
      from tenants t where t.tenant is not null
    ), old as (
      select o.tenant, o.id from tenants t cross join lateral (
        select s.tenant, s.id from stimuli s
        where s.tenant = t.tenant and s.id < ${firstIdOf(before)} and s.status <> 'received'
        order by s.id limit ${limit}::int for update skip locked) o
      limit ${limit}::int
    ), taken as (
      delete from stimulus_takers t using old where t.tenant = old.tenant and t.stimulus_id = old.id
    )
    delete from stimuli s using old where s.tenant = old.tenant and s.id = old.id`;
  });
  return count;
}

async function eraseKeys(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    with old as (
      select tenant, source, key_digest from stimulus_keys where accepted_at <= ${before}
      order by accepted_at limit ${limit} for update skip locked)
    delete from stimulus_keys k using old
    where k.tenant = old.tenant and k.source = old.source and k.key_digest = old.key_digest`;
  return count;
}
