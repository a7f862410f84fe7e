/** What the runtime keeps of a purged tenant, once its actors, with their logs and timers, were erased by messages. */
import type { Sql } from "../store/postgres/pool.ts";
import { WaitingMessages } from "./versions/waiting-messages.ts";

/** Rows of one statement: none holds locks for long. */
const atOnce = 1_000;
/** Work of actors that are no more cleans up behind them; what has not ended by then never will, s. */
const cleaningSeconds = 600;

/**
 * Erases dead letters, counts, messages that wait for a later version, and work that nothing awaits. Repeatable.
 * @returns whether nothing is left; false while messages or work of the tenant are still there
 */
export async function eraseTenant(sql: Sql, newId: () => string, tenant: string): Promise<boolean> {
  const waiting = new WaitingMessages(sql, newId);
  const parked = await sql<{ seq: string }[]>`
    select seq from runtime_parked where tenant = ${tenant} order by seq limit ${atOnce}`;
  for (const { seq } of parked) await waiting.drop(seq, async () => {});
  await sql`
    delete from runtime_activities a using (
      select w.id from runtime_activities w
      where w.tenant = ${tenant} and w.created_at < now() - ${`${cleaningSeconds} seconds`}::text::interval
        and not exists (select 1 from runtime_actors r where r.kind = w.kind and r.key = w.key)
      limit ${atOnce} for update of w skip locked) orphan
    where a.id = orphan.id`;
  for (let count = atOnce; count === atOnce; ) {
    ({ count } = await sql`
      delete from runtime_dead_letters where id in (
        select id from runtime_dead_letters where tenant = ${tenant} limit ${atOnce})`);
  }
  await sql`delete from runtime_counters where tenant = ${tenant}`;
  const [left] = await sql<[{ is_left: boolean }]>`
    select exists (select 1 from runtime_activities where tenant = ${tenant})
      or exists (select 1 from runtime_inbox where tenant = ${tenant})
      or exists (select 1 from runtime_parked where tenant = ${tenant}) as is_left`;
  return !left.is_left;
}
