/**
 * Messages that may end their process or their database backend.
 *
 * A partition taken from an owner that died is begun carefully: before the first messages of its backlog run, their ids
 * are written down, sixteen together. If this owner dies with them, the next one takes them one at a time; a message
 * that was under way alone when its owner died is set aside. So after three deaths the rest goes on. An owner that was
 * taken for dead and came back is no death: it takes its name from the notes, and they are judged by who has died. A commit
 * whose connection died, while the database answers again, has its messages taken in the same way, by the same node.
 */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Envelope, messageId } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Leases, OwnedPartition } from "../../ownership/lease.ts";
import type { Company } from "../intake/inbox.ts";
import type { PoisonMessages } from "./poison.ts";

/** Deaths after which a message is set aside. */
const deathLimit = 3;
/** Messages of a partition that its former owner can have had under way: those of one batch. */
const suspectCount = 512;
/** Timers that were due come within this time of the take, ms. */
const settlingMs = 500;
/**
 * What was under way when a connection died comes again at once, unless its commit went through after all. When nothing
 * of its partition waits and this time is over, ms, it did.
 */
const comesAgainMs = 60_000;
/** How far Redis, which writes the time into ids of mailbox entries, may be behind PostgreSQL, ms. */
const clocksApartMs = 5_000;

/** Messages that were under way once when something died share a batch with so many others; then they are alone. */
const together: Company = { kind: "suspects", most: 16 };
const alone: Company = { kind: "suspect", most: 1 };

/** Handed over in memory for a caller who waits: not taken again after a death. */
const isForCaller = ({ id, parked }: Delivery, envelope: Envelope): boolean =>
  id === null && parked === undefined && (envelope.replyTo !== null || envelope.acknowledge !== undefined);

export interface CarefulOptions {
  readonly sql: Sql;
  readonly node: string;
  readonly clock: { now(): number };
  readonly leases: Pick<Leases, "died">;
}

interface Suspects {
  left: number;
  readonly since: number;
  /** Whose batch under way is not written down. */
  readonly former: string;
}

/** What a message may have ended. */
interface Deaths {
  readonly partition: number;
  /** Of backends, the message among others, and owners before this one that may have died of it. */
  count: number;
  /** Of backends, in a row, the message alone. */
  cuts: number;
  /** When the last backend died with it, Unix ms; 0 for none. */
  cutAt: number;
}

export class Careful {
  private readonly partitions = new Map<number, Suspects>();
  /** Partitions taken from an owner that died, and since when: what it had under way may stand anywhere in their mailbox. */
  private readonly whole = new Map<number, number>();
  private readonly deaths = new Map<string, Deaths>();
  /** Whether the notes name this node for partitions that it lost. */
  private isNamed = false;

  constructor(
    private readonly options: CarefulOptions,
    private readonly poison: PoisonMessages,
  ) {}

  /** Whether some partition's backlog is still under suspicion. */
  get isActive(): boolean {
    return this.partitions.size > 0;
  }

  /** Whether some messages are still under suspicion, and no commit may be written beside that of another. */
  get isSuspicious(): boolean {
    return this.partitions.size > 0 || this.deaths.size > 0;
  }

  /**
   * Whether messages of a partition may be taken before earlier ones. Not while its backlog is under suspicion, nor until
   * what was in its mailbox when its owner died is behind it: a message that ends its process is then among the first of
   * the backlog at the next death.
   */
  mayDivide(partition: number): boolean {
    return !this.partitions.has(partition) && !this.whole.has(partition);
  }

  /** Partitions that were taken; those whose former owner died are suspicious. */
  async begin(owned: readonly Pick<OwnedPartition, "partition" | "former">[]): Promise<void> {
    const { sql, clock, node, leases } = this.options;
    const partitions: number[] = [];
    for (const { partition, former } of owned) {
      if (former === null) continue;
      partitions.push(partition);
      this.partitions.set(partition, { left: suspectCount, since: clock.now(), former });
      this.whole.set(partition, clock.now());
    }
    if (partitions.length === 0) return;
    const rows = await sql<{ partition: number; message: string; nodes: string[] }[]>`
      select partition, message, nodes from runtime_attempts where partition = any(${numbers(partitions)}::int[])`;
    const died = await leases.died(rows.flatMap(({ nodes }) => nodes).filter((id) => id !== node));
    for (const { partition, message, nodes } of rows) {
      const before = nodes.filter((id) => id !== node);
      const deaths = before.filter((id) => died.has(id)).length;
      if (deaths >= deathLimit) {
        this.poison.condemn(message, partition, `its process died ${deaths} times while it was handled`, deaths);
      } else this.deaths.set(message, { partition, count: Math.min(deathLimit - 1, before.length), cuts: 0, cutAt: 0 });
    }
  }

  /** How a message is to be taken; null for one beyond suspicion. */
  companyOf = (delivery: Delivery): Company | null => {
    const { envelope, partition } = delivery;
    if (envelope === null || isForCaller(delivery, envelope)) return null;
    if (this.deaths.size === 0 && this.partitions.size === 0) return null;
    const known = this.deaths.get(messageId(envelope));
    if (known !== undefined) return known.count + 1 < deathLimit && known.cuts === 0 ? together : alone;
    return (this.partitions.get(partition)?.left ?? 0) > 0 ? together : null;
  };

  /** Divides messages that were read together, in their order, into lists that may be taken together. */
  apart(deliveries: readonly Delivery[]): (readonly Delivery[])[] {
    if (deliveries.length === 0) return [];
    if (!this.isActive && this.deaths.size === 0) return [deliveries];
    const lists: Delivery[][] = [];
    let company: Company | null = null;
    for (const delivery of deliveries) {
      const own = this.companyOf(delivery);
      const last = lists.at(-1);
      if (last !== undefined && own === company && last.length < (own?.most ?? deliveries.length)) last.push(delivery);
      else lists.push([delivery]);
      company = own;
    }
    return lists;
  }

  /**
   * Writes down what is about to be handled, if it is under suspicion: all of these messages are, or none.
   * @throws when the database is away
   */
  async mark(deliveries: readonly Delivery[]): Promise<void> {
    const [first] = deliveries;
    if (first === undefined || this.companyOf(first) === null) return;
    const { sql, node } = this.options;
    // An effect that was sent again stands in a backlog twice, and one statement writes no row twice.
    const named = new Map<string, { partition: number; message: string; former: string }>();
    for (const { envelope, partition } of deliveries) {
      const message = envelope === null ? "" : messageId(envelope);
      named.set(`${partition} ${message}`, {
        partition,
        message,
        former: this.partitions.get(partition)?.former ?? node,
      });
    }
    const rows = [...named.values()];
    const partitions = numbers([...new Set(rows.map((row) => row.partition))]);
    const messages = texts(rows.map((row) => row.message));
    await sql`
      with gone as (
        delete from runtime_attempts
        where partition = any(${partitions}::int[]) and not message = any(${messages}::text[]) and attempt < ${deathLimit}
      )
      insert into runtime_attempts as a (partition, message, attempt, nodes)
      select u.partition, u.message, 2, array_append(array_remove(array[u.former], ${node}), ${node})
      from unnest(${numbers(rows.map((row) => row.partition))}::int[], ${messages}::text[],
        ${texts(rows.map((row) => row.former))}::text[]) as u (partition, message, former)
      join runtime_partitions p on p.partition = u.partition and p.owner = ${node}
      on conflict (partition, message) do update
        set nodes = array_append(array_remove(a.nodes, ${node}), ${node}),
          attempt = greatest(2, cardinality(array_remove(a.nodes, ${node})) + 1)`;
  }

  /** These messages got past. */
  settle(deliveries: readonly Delivery[]): void {
    if (this.deaths.size === 0 && this.partitions.size === 0) return;
    for (const { envelope, partition } of deliveries) {
      if (envelope !== null) this.deaths.delete(messageId(envelope));
      const suspects = this.partitions.get(partition);
      if (suspects !== undefined) suspects.left--;
    }
  }

  /**
   * The connection died with the commit of these messages, and the database answers again. Where another commit was
   * under way beside it, both are judged by this: from now on none is written beside, and the one not to blame gets past.
   */
  cut(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      const { envelope, partition } = delivery;
      if (envelope === null || isForCaller(delivery, envelope)) continue;
      const message = messageId(envelope);
      const known = this.deaths.get(message) ?? { partition, count: 0, cuts: 0, cutAt: 0 };
      this.deaths.set(message, known);
      known.cutAt = this.options.clock.now();
      known.count = Math.min(deathLimit - 1, known.count + 1);
      known.cuts = deliveries.length === 1 ? known.cuts + 1 : 0;
      if (known.cuts < deathLimit) continue;
      const error = `its database connection died ${deathLimit} times while it alone was committed`;
      this.poison.condemn(message, partition, error, known.cuts);
    }
  }

  /**
   * Ends the suspicion against partitions whose backlog is behind them. What is left of the notes then names messages
   * that are committed, which never come again.
   * @param waiting whether messages of a partition wait
   * @param held how far the partitions have come
   */
  async relax(
    waiting: { has(partition: number): boolean },
    held: ReadonlyMap<number, { readonly mailboxOffset: string }>,
  ): Promise<void> {
    if (this.isNamed) await this.withdraw();
    for (const [partition, since] of this.whole) {
      const isEmpty = !waiting.has(partition) && this.options.clock.now() - since >= settlingMs;
      if (isEmpty || Number.parseInt(held.get(partition)?.mailboxOffset ?? "0", 10) > since + clocksApartMs)
        this.whole.delete(partition);
    }
    const { sql, node, clock } = this.options;
    const now = clock.now();
    this.forgetCommitted(waiting, now);
    if (this.partitions.size === 0) return;
    const over: number[] = [];
    for (const [partition, { left, since }] of this.partitions) {
      if (left > 0 && (waiting.has(partition) || now - since < settlingMs)) continue;
      this.partitions.delete(partition);
      over.push(partition);
    }
    if (over.length === 0) return;
    for (const [message, { partition, cuts }] of this.deaths) {
      if (cuts === 0 && over.includes(partition)) this.deaths.delete(message);
    }
    await sql`
      delete from runtime_attempts a using runtime_partitions p
      where a.partition = any(${numbers(over)}::int[]) and p.partition = a.partition and p.owner = ${node}`;
  }

  /** What was under way when a connection died, and does not come again. */
  private forgetCommitted(waiting: { has(partition: number): boolean }, now: number): void {
    for (const [message, { partition, cutAt }] of this.deaths) {
      if (cutAt > 0 && now - cutAt >= comesAgainMs && !waiting.has(partition)) this.deaths.delete(message);
    }
  }

  /** This node lives, though others may have its partitions now: it did not die of what it had under way. */
  private async withdraw(): Promise<void> {
    const { sql, node } = this.options;
    this.isNamed = false;
    try {
      await sql`
        update runtime_attempts set nodes = array_remove(nodes, ${node}),
          attempt = greatest(1, cardinality(array_remove(nodes, ${node})))
        where ${node} = any(nodes)
          and not exists (select 1 from runtime_partitions p where p.partition = runtime_attempts.partition and p.owner = ${node})`;
    } catch (error) {
      this.isNamed = true;
      throw error;
    }
  }

  /** For partitions given up or lost: their next owner has the notes. */
  forget(partitions: readonly number[]): void {
    this.isNamed = true;
    this.poison.forget(partitions);
    for (const partition of partitions) {
      this.partitions.delete(partition);
      this.whole.delete(partition);
    }
    for (const [message, { partition }] of this.deaths) if (partitions.includes(partition)) this.deaths.delete(message);
  }
}
