/** The rows of timers, and those of actors whose timers a former version kept in Redis. */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Address } from "../port.ts";
import type { TimerRow } from "./timer.ts";

export interface TimerPage {
  readonly rows: readonly TimerRow[];
  readonly partial: ReadonlySet<number>;
}

interface StoredTimer extends Omit<TimerRow, "due" | "fence"> {
  readonly found: number;
  readonly due: string;
  readonly fence: string;
}

/** Timers of many partitions that are read at once, and bytes of their messages, about. */
const pageRows = 16_384;
const pageBytes = 8 * 1024 * 1024;

/**
 * The first timers of each partition that are due before `until`, in order of `due`, at most `limit` of each; fewer, but
 * one at least, where many partitions share a page or messages are large.
 * @returns `partial`: the partitions that have more of them
 */
export async function readTimers(
  sql: Sql,
  partitions: readonly number[],
  until: number,
  limit: number,
): Promise<TimerPage> {
  const rowsOfEach = Math.max(1, Math.min(limit, Math.floor(pageRows / partitions.length)));
  const bytesOfEach = Math.max(1, Math.floor(pageBytes / partitions.length));
  // For each partition by itself: a long line in one costs no more than its first rows. The length of a text that is
  // stored aside is known without reading it.
  const rows = await sql<StoredTimer[]>`
    select t.* from unnest(${numbers(partitions)}::int[]) as u (partition)
    cross join lateral (
      select partition, due, fence, kind, key, tenant, timer, type, body, found from (
        select first.*, count(*) over ()::int as found,
          sum(octet_length(body)) over (order by due, fence) - octet_length(body) as before
        from (
          select partition, due, fence, kind, key, tenant, timer, type, body from runtime_timers
          where partition = u.partition and due < ${until}
          order by due, fence limit ${rowsOfEach}) first
      ) page where before < ${bytesOfEach} order by due, fence) t`;
  const partial = new Set<number>();
  for (const [partition, of] of Map.groupBy(rows, (row) => row.partition))
    if (of.length === rowsOfEach || of.length < (of[0]?.found ?? 0)) partial.add(partition);
  return {
    rows: rows.map(({ found: _, ...row }) => ({ ...row, due: Number(row.due), fence: Number(row.fence) })),
    partial,
  };
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
