/**
 * What this node does not know waits in PostgreSQL for a node that does.
 *
 * A message of a kind, a type or a shape that only a later version knows is taken from its mailbox and kept
 * (`runtime_parked`), and so are all later messages of its actor, in order; the other actors of the partition go on. The
 * partition then goes to a node that knows it (`../ownership/shares.ts`). The next owner of a partition tries what waits
 * there once, from the front: what is known now runs, the rest stays. Effects of the outbox are kept likewise.
 */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { OutboxRow } from "../effects/outbox.ts";
import { decodeEnvelope } from "../mailbox/envelope.ts";
import type { Delivery } from "../mailbox/mailbox.ts";
import { encodeNeed, knownEffects } from "./knowledge.ts";

/** Messages tried at once, and bytes of them, about. */
const pageSize = 256;
const pageBytes = 8 * 1024 * 1024;

/** A partition as this node took it. */
interface Owned {
  readonly partition: number;
  readonly epoch: number;
}

interface Waiting {
  /** Rows up to this one were tried since the partition was taken; null once all were. */
  tried: string | null;
  /** Actors, as `kind/key`, whose first message stays, so that the later ones stay as well. */
  readonly stuck: Set<string>;
}

export class ParkedMessages {
  /** Partitions where messages wait, or may. */
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly sql: Sql) {}

  /**
   * Finds what waits in partitions just taken, and hands effects that this node knows back to the outbox.
   * @returns by how much that raised the number of a partition's last effect
   */
  async begin(owned: readonly Owned[]): Promise<ReadonlyMap<number, number>> {
    const partitions = owned.map(({ partition }) => partition);
    const rows = await this.sql<{ partition: number; effects: boolean }[]>`
      select partition, bool_or(effect_seq is not null) as effects from runtime_parked
      where partition = any(${numbers(partitions)}::int[]) group by partition`;
    for (const { partition } of rows) this.waiting.set(partition, { tried: "0", stuck: new Set() });
    const withEffects = new Set(rows.filter(({ effects }) => effects).map(({ partition }) => partition));
    if (withEffects.size === 0) return new Map();
    return await this.takeEffectsBack(owned.filter(({ partition }) => withEffects.has(partition)));
  }

  /**
   * Under new numbers: those of later effects are taken, and an earlier one would look like a repeat. Not where another
   * node took the partition meanwhile: it gives these numbers itself.
   */
  private async takeEffectsBack(owned: readonly Owned[]): Promise<ReadonlyMap<number, number>> {
    const raised = await this.sql<{ partition: number; by: number }[]>`
      with mine as (
        select p.partition from unnest(${numbers(owned.map(({ partition }) => partition))}::int[],
          ${numbers(owned.map(({ epoch }) => epoch))}::bigint[]) as u (partition, epoch)
        join runtime_partitions p on p.partition = u.partition and p.epoch = u.epoch for update of p
      ), known as (
        delete from runtime_parked
        where partition in (select partition from mine) and effect_seq is not null
          and content::json ->> 0 = any(${texts(knownEffects)}::text[])
        returning partition, seq, content
      ), raised as (
        update runtime_partitions p set outbox_seq = p.outbox_seq + k.count
        from (select partition, count(*) as count from known group by partition) k where p.partition = k.partition
        returning p.partition, p.outbox_seq, k.count
      ), back as (
        insert into runtime_outbox (partition, seq, effect)
        select k.partition, r.outbox_seq - r.count + row_number() over (partition by k.partition order by k.seq), k.content
        from known k join raised r on r.partition = k.partition
      )
      select partition, count::int as by from raised`;
    return new Map(raised.map(({ partition, by }) => [partition, by]));
  }

  /** Keeps effects that this node does not know, before others of their partition are deleted. @returns the rest */
  async setAside<Row extends Pick<OutboxRow, "partition" | "seq" | "effect">>(rows: readonly Row[]): Promise<Row[]> {
    const unknown = rows.filter(({ effect }) => !isKnownEffect(effect));
    if (unknown.length === 0) return [...rows];
    const needs = unknown.map(({ effect }) => encodeNeed(["effect", effectName(effect)]));
    await this.sql`
      with u as (
        select * from unnest(${numbers(unknown.map((row) => row.partition))}::int[],
          ${numbers(unknown.map((row) => row.seq))}::bigint[], ${texts(needs)}::text[]) as u (partition, seq, need)
      ), gone as (
        delete from runtime_outbox o using u where o.partition = u.partition and o.seq = u.seq
        returning o.partition, o.seq, o.effect, u.need
      ), wanted as (
        insert into runtime_needs (partition, need) select distinct partition, need from gone on conflict do nothing
      )
      insert into runtime_parked (partition, kind, key, tenant, need, content, effect_seq)
      select partition, '', '', '', need, effect, seq from gone order by partition, seq`;
    return rows.filter(({ effect }) => isKnownEffect(effect));
  }

  forget(partitions: readonly number[]): void {
    for (const partition of partitions) this.waiting.delete(partition);
  }

  /** Whether messages of this partition wait, or may. */
  readonly isIn = (partition: number): boolean => this.waiting.has(partition);

  /** A message of this partition is kept by a commit of this node. */
  note(partition: number): void {
    if (!this.waiting.has(partition)) this.waiting.set(partition, { tried: null, stuck: new Set() });
  }

  /** Whether messages are to be tried. */
  get isDue(): boolean {
    if (this.waiting.size === 0) return false;
    for (const { tried } of this.waiting.values()) if (tried !== null) return true;
    return false;
  }

  /** The actors of these messages, as `kind/key`, that have earlier ones waiting. */
  async blocked(deliveries: readonly Delivery[]): Promise<Set<string>> {
    if (this.waiting.size === 0) return new Set();
    const names = deliveries.flatMap(({ envelope, partition, parked }) =>
      envelope === null || parked !== undefined || !this.waiting.has(partition) ? [] : [envelope],
    );
    if (names.length === 0) return new Set();
    const rows = await this.sql<{ kind: string; key: string }[]>`
      select distinct p.kind, p.key
      from unnest(${texts(names.map(({ kind }) => kind))}::text[], ${texts(names.map(({ key }) => key))}::text[])
        as u (kind, key) join runtime_parked p on p.kind = u.kind and p.key = u.key`;
    return new Set(rows.map(({ kind, key }) => `${kind}/${key}`));
  }

  /** The next messages to be tried, of one partition. Called between two batches, so that none is added meanwhile. */
  async next(): Promise<Delivery[]> {
    for (const [partition, waiting] of this.waiting) {
      if (waiting.tried === null) continue;
      const rows = await this.sql<{ seq: string; content: string; activity: string | null }[]>`
        select seq, content, activity from (
          select first.*, sum(octet_length(content)) over (order by seq) - octet_length(content) as before
          from (
            select seq, content, activity from runtime_parked
            where partition = ${partition} and seq > ${waiting.tried} and effect_seq is null
            order by seq limit ${pageSize}) first
        ) page where before < ${pageBytes} order by seq`;
      const last = rows.at(-1);
      if (last !== undefined) {
        waiting.tried = last.seq;
        return rows.map((row) => deliveryOf(partition, row));
      }
      if (waiting.stuck.size === 0) this.waiting.delete(partition);
      else this.waiting.set(partition, { tried: null, stuck: new Set() });
    }
    return [];
  }

  /** Whether an earlier message of the actor was tried and stays. */
  isStuck(partition: number, name: string): boolean {
    return this.waiting.get(partition)?.stuck.has(name) === true;
  }

  stays(partition: number, name: string): void {
    this.waiting.get(partition)?.stuck.add(name);
  }
}

function deliveryOf(
  partition: number,
  { seq, content, activity }: { readonly seq: string; readonly content: string; readonly activity: string | null },
): Delivery {
  // It was taken once: a name of its own keeps it from looking like a repeat.
  const envelope = { ...decodeEnvelope(content), source: "parked", sequence: Number(seq) };
  return { partition, id: null, envelope, raw: content, parked: { seq, activity } };
}

/** Effects stand as JSON lists that begin with their name. */
const effectName = (effect: string): string => String((JSON.parse(effect) as readonly unknown[])[0]);
const isKnownEffect = (effect: string): boolean => knownEffects.some((name) => effect.startsWith(`["${name}"`));
