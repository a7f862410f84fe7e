/** The rows of timers, and those of actors whose timers a former version kept in Redis. */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Address } from "../port.ts";
import type { TimerRow } from "./timer.ts";

interface StoredTimer extends Omit<TimerRow, "due" | "fence"> {
  readonly due: string;
  readonly fence: string;
}

/** The first timers of each partition that are due before `until`, in order of `due`, at most `limit` of each. */
export async function readTimers(
  sql: Sql,
  partitions: readonly number[],
  until: number,
  limit: number,
): Promise<TimerRow[]> {
  // For each partition by itself: a long line in one costs no more than its first rows.
  const rows = await sql<StoredTimer[]>`
    select t.* from unnest(${numbers(partitions)}::int[]) as u (partition)
    cross join lateral (
      select partition, due, fence, kind, key, tenant, timer, type, body from runtime_timers
      where partition = u.partition and due < ${until}
      order by due, fence limit ${limit}) t`;
  return rows.map((row) => ({ ...row, due: Number(row.due), fence: Number(row.fence) }));
}

/** Notes that the timers which this actor's state asks for are to be set. */
export async function noteRearm(sql: Sql, { kind, key, tenant }: Address): Promise<void> {
  await sql`insert into runtime_rearm (kind, key, tenant) values (${kind}, ${key}, ${tenant}) on conflict do nothing`;
}

/** Actors behind this one whose timers are to be set, in order. */
export async function readRearm(sql: Sql, after: Pick<Address, "kind" | "key">, limit: number): Promise<Address[]> {
  return await sql<Address[]>`
    select kind, key, tenant from runtime_rearm where (kind, key) > (${after.kind}, ${after.key})
    order by kind, key limit ${limit}`;
}

export async function deleteRearm(sql: Sql, done: readonly Pick<Address, "kind" | "key">[]): Promise<void> {
  await sql`
    delete from runtime_rearm r
    using unnest(${texts(done.map(({ kind }) => kind))}::text[], ${texts(done.map(({ key }) => key))}::text[]) as u (kind, key)
    where r.kind = u.kind and r.key = u.key`;
}
