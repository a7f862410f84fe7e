/** The end of old usage, a tenant at a time. On every node; what another one is about is left to it. */
import type { Fragment } from "postgres";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface RetentionOptions {
  readonly sql: Sql;
  /** SVC_USAGE_RETENTION_DAYS */
  readonly retentionDays: number;
  /** Unix ms. */
  readonly now: () => number;
}

const dayMs = 86_400_000;
/** Rows per statement: none locks a table for long. */
const atOnce = 2_000;
const tables = ["usage_activities", "usage_sums", "usage_storage"] as const;

/** @returns how many rows went */
export async function eraseOldUsage({ sql, retentionDays, now }: RetentionOptions): Promise<number> {
  const before = new Date(now() - retentionDays * dayMs);
  const old: Readonly<Record<(typeof tables)[number], Fragment>> = {
    usage_activities: sql`at < ${before}`,
    // A day goes with its last hour.
    usage_sums: sql`hours in (1, 24) and start < ${before} - hours * interval '1 hour'`,
    usage_storage: sql`hour < ${before}`,
  };
  let erased = 0;
  for (const table of tables) {
    for (let tenant = await behind(sql, table, ""); tenant !== null; tenant = await behind(sql, table, tenant)) {
      for (let count = atOnce; count === atOnce; erased += count) {
        ({ count } = await sql`
          delete from ${sql(table)} where ctid = any(array(
            select ctid from ${sql(table)} where tenant = ${tenant} and ${old[table]} limit ${atOnce}
            for update skip locked))`);
      }
    }
  }
  return erased;
}

async function behind(sql: Sql, table: (typeof tables)[number], last: string): Promise<string | null> {
  const [row] = await sql<{ tenant: string }[]>`
    select tenant from ${sql(table)} where tenant > ${last} order by tenant limit 1`;
  return row?.tenant ?? null;
}
