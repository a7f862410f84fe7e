/**
 * What waits for actors when the number of partitions changes: messages in the mailboxes of Redis, and effects that no
 * partition has received. They become rows of `runtime_parked`, where the next owners take them in order, ahead of all
 * later messages of their actors. What was taken before is left out, as its receiver would.
 */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import { databaseTime } from "../../store/postgres/clock.ts";
import type { Transaction } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import { toldIn } from "../effects/outbox.ts";
import { keptOf } from "../lane/batch/set-aside.ts";
import { settledActivities } from "../lane/commit/activities.ts";
import { deadLetters } from "../lane/commit/dead-letters.ts";
import { type ParkedRow, parked } from "../lane/commit/parked.ts";
import type { Part } from "../lane/commit/part.ts";
import type { Arrivals } from "../lane/exchange/arrivals.ts";
import { arrivalOf } from "../lane/exchange/received.ts";
import type { Received } from "../lane/exchange/sources.ts";
import { decodeEnvelope, type Envelope, encodeEnvelope } from "../mailbox/envelope.ts";
import { type Keys, partitionOf } from "../mailbox/partition.ts";
import { ReadSize } from "../mailbox/read-size.ts";

/** Messages in one statement at most, and bytes of effects in one page, about. */
const most = 256;
const pageBytes = 8 * 1024 * 1024;

/** A partition as its last owner left it. */
export interface Left {
  readonly partition: number;
  readonly offset: string;
  readonly received: Received;
  readonly arrivals: Arrivals;
  /** Of the database: effects of another one are found in the outbox, or their turns are lost. */
  readonly incarnation: string;
}

async function run(tx: Transaction, parts: readonly (Part | null)[]): Promise<void> {
  for (const part of parts) if (part !== null) await tx.unsafe(part.text, [...part.parameters] as never[]);
}

function rowOf(partition: number, envelope: Envelope): ParkedRow {
  const { kind, key, tenant, activity } = envelope;
  return { partition, kind, key, tenant, need: null, content: encodeEnvelope(keptOf(envelope)), activity };
}

/**
 * Keeps the messages of one mailbox behind the partition's position, in their order.
 * @returns how many wait
 */
export async function keepMailbox(tx: Transaction, redis: RedisClient, keys: Keys, left: Left): Promise<number> {
  const key = keys.mailbox(left.partition);
  const size = new ReadSize(most);
  let from = left.offset;
  let kept = 0;
  for (;;) {
    const page = await redis.xrange(key, `(${from}`, "+", "COUNT", size.of(1));
    const last = page.at(-1);
    if (last === undefined) return kept;
    from = last[0];
    const entries = page.map(([id, fields]) => ({ id, raw: fields[1] ?? "" }));
    size.note(entries.map(({ raw }) => raw.length));
    kept += await keepPage(tx, left, entries);
  }
}

interface Entry {
  readonly id: string;
  readonly raw: string;
}

async function keepPage(tx: Transaction, left: Left, entries: readonly Entry[]): Promise<number> {
  const { partition, received, arrivals } = left;
  const damaged: Entry[] = [];
  const arrived: Envelope[] = [];
  for (const entry of entries) {
    const envelope = decoded(entry.raw);
    if (envelope === null) damaged.push(entry);
    // Not those behind a gap: they are in the outbox as well, behind the one that is missing.
    else if (arrivalOf(left, envelope) === "new") {
      received.set(envelope.source, envelope.sequence);
      arrivals.join(received, envelope.source);
      arrived.push(envelope);
    }
  }
  const { wanted, over } = await awaited(tx, arrived);
  const now = damaged.length === 0 ? 0 : await timeOf(tx);
  await run(tx, [
    parked(wanted.map((envelope) => rowOf(partition, envelope))),
    settledActivities(over),
    deadLetters(damaged.map((entry) => letterOf(partition, entry, now))),
  ]);
  const effects = arrived.filter(({ source }) => source.startsWith("p"));
  await deleteEffects(
    tx,
    effects.map(({ source, sequence }) => ({ partition: Number(source.slice(1)), seq: sequence })),
  );
  return wanted.length;
}

function decoded(raw: string): Envelope | null {
  try {
    return decodeEnvelope(raw);
  } catch {
    return null;
  }
}

/** PostgreSQL's time, Unix milliseconds. */
async function timeOf(tx: Transaction): Promise<number> {
  const [row] = await tx<[{ now: number }]>`select ${tx.unsafe(databaseTime)} as now`;
  return row.now;
}

const letterOf = (partition: number, { id, raw }: Entry, now: number) => ({
  id: Bun.randomUUIDv7("hex", now),
  partition,
  kind: "",
  key: "",
  tenant: "",
  messageId: id,
  type: "",
  body: JSON.stringify(raw),
  error: "unreadable mailbox entry",
  attempts: 1,
});

/** Leaves out outcomes of work that was given up or whose outcome was taken. @returns the rest, and work that is over */
async function awaited(
  tx: Transaction,
  envelopes: readonly Envelope[],
): Promise<{ wanted: readonly Envelope[]; over: readonly string[] }> {
  const ids = envelopes.flatMap(({ activity }) => activity ?? []);
  if (ids.length === 0) return { wanted: envelopes, over: [] };
  const rows = await tx<{ id: string; abandoned: boolean }[]>`
    select id, abandoned from runtime_activities where id = any(${texts(ids)}::text[])`;
  const open = new Set(rows.filter(({ abandoned }) => !abandoned).map(({ id }) => id));
  // Each outcome once, although two attempts at the work may have sent one.
  const wanted = envelopes.filter(({ activity }) => activity === null || open.delete(activity));
  return { wanted, over: rows.map(({ id }) => id) };
}

/**
 * Keeps the messages of the outbox that their receivers have not taken; what else is in it stays there.
 * @param received by partition, what each has taken of each source
 * @returns how many wait
 */
export async function keepEffects(
  tx: Transaction,
  partitions: number,
  received: ReadonlyMap<number, Received>,
): Promise<number> {
  let from = { partition: -1, seq: "0" };
  let kept = 0;
  for (;;) {
    // The length of a text that is stored aside is known without reading it.
    const rows = await tx<{ partition: number; seq: string; effect: string }[]>`
      select partition, seq, effect from (
        select first.*, sum(octet_length(effect)) over (order by partition, seq) - octet_length(effect) as before
        from (
          select partition, seq, effect from runtime_outbox
          where (partition, seq) > (${from.partition}::int, ${from.seq}::bigint) order by partition, seq limit ${most}
        ) first) page
      where before < ${pageBytes} order by partition, seq`;
    const last = rows.at(-1);
    if (last === undefined) return kept;
    from = last;
    const told = rows.flatMap(({ partition, effect, ...row }) => {
      const seq = Number(row.seq);
      const envelope = toldIn(effect, { partition, seq });
      return envelope === null ? [] : [{ partition, seq, envelope }];
    });
    const waiting = told.flatMap(({ partition, seq, envelope }) => {
      const target = partitionOf(envelope.kind, envelope.key, partitions);
      return seq <= (received.get(target)?.get(`p${partition}`) ?? 0) ? [] : [rowOf(target, envelope)];
    });
    await run(tx, [parked(waiting)]);
    await deleteEffects(tx, told);
    kept += waiting.length;
  }
}

async function deleteEffects(
  tx: Transaction,
  effects: readonly { readonly partition: number; readonly seq: number }[],
): Promise<void> {
  if (effects.length === 0) return;
  await tx`
    delete from runtime_outbox o
    using unnest(${numbers(effects.map(({ partition }) => partition))}::int[],
      ${numbers(effects.map(({ seq }) => seq))}::bigint[]) as u (partition, seq)
    where o.partition = u.partition and o.seq = u.seq`;
}
