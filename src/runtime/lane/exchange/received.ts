/**
 * What a partition has taken of each source: the last number, and by it what is to be done with a message that arrives.
 */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Envelope } from "../../mailbox/envelope.ts";
import type { AheadMark, Arrivals } from "./arrivals.ts";
import type { Held } from "./held.ts";
import { isTold, type Received } from "./sources.ts";

/**
 * - `new`: to be taken.
 * - `repeat`: taken before.
 * - `gap`: an earlier effect of its source is missing. Taken now it would make that one look like a repeat.
 * - `foreign`: an effect of another incarnation of the database. Perhaps the commit that caused it is lost; if not, its
 *   row is there, and it comes once more from there.
 */
export type Arrival = "new" | "repeat" | "gap" | "foreign";

export function arrivalOf(
  { received, arrivals, incarnation }: { received: Received; arrivals: Arrivals; incarnation: string },
  envelope: Envelope,
): Arrival {
  const { source, sequence, effect } = envelope;
  if (effect !== undefined && effect.incarnation !== incarnation) return "foreign";
  const last = received.get(source) ?? 0;
  if (sequence <= last || arrivals.wasTaken(source, sequence)) return "repeat";
  return effect !== undefined && effect.after > last && !arrivals.isComplete(envelope) ? "gap" : "new";
}

/** What these partitions have received, by partition. */
export async function loadReceived(sql: Sql, partitions: readonly number[]): Promise<Map<number, Received>> {
  // In few rows: a partition has a number for each other one and for each node.
  const rows = await sql<{ partition: number; received: string }[]>`
    select partition, json_agg(json_build_array(source, seq))::text as received
    from runtime_received where partition = any(${numbers(partitions)}::int[]) group by partition`;
  return new Map(rows.map((row) => [row.partition, new Map(JSON.parse(row.received) as [string, number][])]));
}

/** What these partitions took before earlier messages, by partition. */
export async function loadAhead(
  sql: Sql | Transaction,
  partitions: readonly number[],
): Promise<Map<number, AheadMark[]>> {
  const rows = await sql<{ partition: number; source: string; seq: string; after: string }[]>`
    select partition, source, seq, after from runtime_received_ahead
    where partition = any(${numbers(partitions)}::int[]) order by partition, source, seq`;
  const marks = rows.map(({ partition, source, seq, after }) => ({
    partition,
    source,
    seq: Number(seq),
    after: Number(after),
  }));
  return Map.groupBy(marks, ({ partition }) => partition);
}

/**
 * Forgets nodes that have sent nothing for so long that no repeat of theirs can be on its way, and messages that were
 * told (`n<node>.<number>`), which their senders do not send again for so long. What was taken after the time of the
 * partition's position stays: its entry may still be in the mailbox behind that position, where the next owner reads it
 * again.
 */
export async function forgetNodes(
  sql: Sql,
  all: ReadonlyMap<number, Pick<Held, "partition" | "received" | "arrivals">>,
): Promise<void> {
  const gone = await sql<{ partition: number; source: string }[]>`
    delete from runtime_received r using runtime_partitions p
    where r.partition = any(${numbers([...all.keys()])}::int[]) and r.source like 'n%' and p.partition = r.partition
      and r.at < now() - case when r.source like '%.%' then interval '10 minutes' else interval '1 hour' end
      and r.at < to_timestamp(split_part(p.mailbox_offset, '-', 1)::double precision / 1000) - ${clocksApart}::interval
    returning r.partition, r.source`;
  await forgetAhead(sql, all);
  // Those of nodes stay: they are few, and a batch under way may just have raised one.
  for (const { partition, source } of gone) if (isTold(source)) all.get(partition)?.received.delete(source);
  for (const { received } of all.values()) {
    let surplus = received.size - mostInMemory;
    if (surplus <= 0) continue;
    for (const source of received.keys()) {
      if (surplus <= 0) break;
      if (isTold(source) && received.delete(source)) surplus--;
    }
  }
}

/** How far Redis, which writes the time into ids of mailbox entries, may be ahead of PostgreSQL. */
const clocksApart = "5 seconds";

/** Numbers kept in memory for each partition; the oldest messages that were told go first. */
const mostInMemory = 20_000;

/** Notes of nodes whose earlier messages Redis lost, so that their last number never comes to them. */
async function forgetAhead(sql: Sql, all: ReadonlyMap<number, Pick<Held, "partition" | "arrivals">>): Promise<void> {
  const left = Array.from(all.values(), ({ partition, arrivals }) =>
    arrivals.sourcesWithoutWaiting.filter((source) => source.startsWith("n")).map((source) => ({ partition, source })),
  ).flat();
  if (left.length === 0) return;
  await sql`
    delete from runtime_received_ahead a using (
      select * from unnest(${numbers(left.map(({ partition }) => partition))}::int[],
        ${texts(left.map(({ source }) => source))}::text[]) as u (partition, source)) u
    where a.partition = u.partition and a.source = u.source and a.at < now() - interval '1 hour'`;
}
