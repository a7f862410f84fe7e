/**
 * Who owns which partition.
 *
 * Nodes announce themselves by a heartbeat row; PostgreSQL's clock alone decides who is alive. Each
 * node looks at the table once per interval, takes free partitions up to its fair share and gives up
 * what it holds beyond that when another has too few. Taking one raises its epoch, and every commit checks the epoch:
 * the timing here decides only how soon work moves, never whether two owners can both commit.
 */
import { lastMigration } from "../../store/migrate.ts";
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import { type DatabaseClock, databaseTime } from "../../store/postgres/clock.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Knowledge, knows, type Need } from "../versions/knowledge.ts";
import { Capabilities } from "./capabilities.ts";
import { diedOf } from "./liveness.ts";
import { PartitionsResized, settlePartitions } from "./partitions.ts";
import { isGone, pidScope } from "./processes.ts";
import type { WillingNode } from "./shares.ts";

export interface OwnedPartition {
  readonly partition: number;
  readonly epoch: number;
  readonly mailboxOffset: string;
  /** Of the database: see `runtime_incarnation` of the schema. */
  readonly incarnation: string;
  readonly outboxSequence: number;
  /** The owner that did not give it up: it died, or may have; this node itself where it takes its own again. */
  readonly former: string | null;
}

/** The first migration of the versions that know `runtime_received_ahead`. */
const takesAheadFrom = "0018_taken_ahead.sql";

interface PartitionRow {
  partition: number;
  epoch: string;
  owner: string | null;
  mailbox_offset: string;
  incarnation: string;
  outbox_seq: string;
}

interface NodeRow {
  id: string;
  pid: number;
  pid_scope: string;
  draining: boolean;
  acknowledges: boolean;
  migration: string | null;
  capabilities: string | null;
  incarnation: string;
  generation: number | null;
  alive: boolean;
  /** JSON of the rows of `runtime_needs`, in the first row; null for none. */
  needs: string | null;
  /** JSON of the partitions that belong to this node, or to none whose heartbeat is fresh, in the first row. */
  partitions: string | null;
}

/** A partition in the look at the table: its number, whether it is this node's, and its epoch. */
type SeenPartition = readonly [partition: number, isMine: boolean, epoch: number];

export interface LeaseTable {
  readonly live: readonly string[];
  /** Whether every live node says what it has taken; those of the former version do not. */
  readonly acknowledge: boolean;
  /** Whether every live node knows of messages that were taken before earlier ones. */
  readonly takesAhead: boolean;
  /** Of the database that was looked at. */
  readonly incarnation: string;
  /** Those of them that may own partitions: the others are of the version before capabilities, or are draining. */
  readonly willing: readonly WillingNode[];
  /** Those of them whose partitions are left to them. */
  readonly holders: readonly string[];
  /** This node's partitions. */
  readonly mine: readonly number[];
  /** Of this node's partitions, as the table has them. */
  readonly epochs: ReadonlyMap<number, number>;
  /** Those that no holder has. */
  readonly free: readonly number[];
  readonly needs: ReadonlyMap<number, readonly (Need | null)[]>;
}

export interface LeaseOptions {
  readonly sql: Sql;
  /** For the heartbeat, which no work may delay. */
  readonly beside: Sql;
  readonly node: string;
  readonly host: string;
  readonly partitions: number;
  /** How often their number was changed when this node started. */
  readonly generation: number;
  readonly knowledge: Knowledge;
  /** A node whose heartbeat is older than this is taken for dead, ms. */
  readonly ttlMs: number;
  /** Called when `beside` has written a heartbeat. */
  readonly beaten?: () => void;
  /** Learns PostgreSQL's time with each heartbeat. */
  readonly clock?: Pick<DatabaseClock, "asked" | "heard">;
}

const migration = lastMigration();

export class Leases {
  private readonly scope = pidScope();
  private readonly capabilities: Capabilities;

  constructor(private readonly options: LeaseOptions) {
    this.capabilities = new Capabilities(options.sql, options.knowledge);
  }

  /**
   * Registers this node and makes sure the partitions exist.
   * @throws when there is another number of them, PartitionsResized when it was changed
   */
  async join(): Promise<void> {
    const { sql, partitions, generation } = this.options;
    const { count, ...found } = await settlePartitions(sql, partitions);
    if (found.generation !== generation) throw new PartitionsResized();
    if (count !== partitions) throw new Error(`This database has ${count} partitions, not ${partitions}`);
    // Left behind by nodes that were killed; nothing asks after them so late.
    await sql`delete from runtime_nodes where heartbeat_at < now() - interval '1 day'`;
    await this.capabilities.announce();
    await this.beat();
  }

  /** @throws PartitionsResized where that happened since this node started */
  async beat(): Promise<void> {
    const { beside, beaten, node, host, clock, generation } = this.options;
    const asked = clock?.asked() ?? 0;
    const [row] = await beside<{ time: number; isAnnounced: boolean }[]>`
      insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at, acknowledges, capabilities, migration)
      select ${node}, ${host}, ${this.scope}, ${process.pid}::int, now(), true, ${this.capabilities.id}, ${migration}
      from runtime_partitions where partition = 0 and generation = ${generation}
      on conflict (id) do update set heartbeat_at = now()
      returning ${beside.unsafe(databaseTime)} as time,
        exists (select 1 from runtime_capabilities where id = ${this.capabilities.id}) as "isAnnounced"`;
    if (row === undefined) throw new PartitionsResized();
    clock?.heard(row.time, asked);
    beaten?.();
    // Without it nodes that start would take this one for one of the version before, which owns no partitions.
    if (!row.isAnnounced) await this.capabilities.announce(beside);
  }

  async announceDraining(): Promise<void> {
    const { sql, node } = this.options;
    await sql`update runtime_nodes set draining = true where id = ${node}`;
  }

  async leave(): Promise<void> {
    const { sql, node } = this.options;
    await sql`delete from runtime_nodes where id = ${node}`;
  }

  /**
   * The nodes that live and the owners as they are now. A process of this machine that is gone counts
   * as dead at once, without waiting for its heartbeat to age.
   * @throws PartitionsResized where that happened since this node started
   */
  async look(): Promise<LeaseTable> {
    const { sql, ttlMs, node, generation } = this.options;
    // What partitions need, and those that may be taken, are columns of the first row: one round trip brings all.
    const nodes = await sql<NodeRow[]>`
      select id, pid, pid_scope, draining, acknowledges, migration, capabilities, (select runtime_incarnation()) as incarnation,
        (select generation from runtime_partitions where partition = 0) as generation,
        heartbeat_at > now() - ${`${ttlMs} milliseconds`}::interval as alive,
        case when row_number() over (order by id) = 1 then
          (select json_agg(json_build_object('partition', partition, 'need', need)) from runtime_needs)::text
        end as needs,
        case when row_number() over (order by id) = 1 then
          (select json_agg(json_build_array(partition, owner is not distinct from ${node}, epoch) order by partition)
            from runtime_partitions where owner is null or owner = ${node} or owner not in (
              select id from runtime_nodes where heartbeat_at > now() - ${`${ttlMs} milliseconds`}::interval))::text
        end as partitions
      from runtime_nodes order by id`;
    if (nodes[0] !== undefined && nodes[0].generation !== generation) throw new PartitionsResized();
    const needs = this.capabilities.needs(nodes[0]?.needs ?? null);
    const live = nodes.filter((row) => row.alive && !isGone(row, this.scope));
    const known = await this.capabilities.of(live.flatMap(({ capabilities }) => capabilities ?? []));
    const capable = live.flatMap(({ id, draining, capabilities }) => {
      const knowledge = known.get(capabilities ?? "");
      return knowledge === undefined ? [] : [{ id, draining, knowledge }];
    });
    const holders = capable.map(({ id }) => id);
    const willing = capable.filter(({ draining }) => !draining);
    // One whose heartbeat is fresh holds nothing if its process is gone, or if nothing is known of it.
    const isCertain = nodes.every(({ id, alive }) => !alive || holders.includes(id));
    const seen = isCertain ? JSON.parse(nodes[0]?.partitions ?? "[]") : await this.leftBy(holders);
    const partitions: readonly SeenPartition[] = seen;
    const mine = partitions.filter(([, isMine]) => isMine);
    if (needs.size > 0 && live.length === capable.length && isKnownToAll(needs, willing))
      await this.capabilities.forgetNeeds();
    return {
      live: live.map((row) => row.id),
      willing,
      holders,
      mine: mine.map(([partition]) => partition),
      epochs: new Map(mine.map(([partition, , epoch]) => [partition, epoch])),
      free: partitions.filter(([, isMine]) => !isMine).map(([partition]) => partition),
      needs,
      acknowledge: live.every((row) => row.acknowledges),
      takesAhead: live.every((row) => row.migration !== null && row.migration >= takesAheadFrom),
      incarnation: nodes[0]?.incarnation ?? "",
    };
  }

  /** This node's partitions, and those that none of these nodes holds; what others hold is left out: it may be much. */
  private async leftBy(holders: readonly string[]): Promise<readonly SeenPartition[]> {
    const { sql, node } = this.options;
    const rows = await sql<{ partition: number; owner: string | null; epoch: string }[]>`
      select partition, owner, epoch from runtime_partitions
      where owner is null or owner = ${node} or not owner = any(${texts(holders)}::text[]) order by partition`;
    return rows.map(({ partition, owner, epoch }) => [partition, owner === node, Number(epoch)]);
  }

  /** Those of these nodes that have died, as far as it can be told. */
  died(nodes: readonly string[]): Promise<ReadonlySet<string>> {
    const { sql, ttlMs } = this.options;
    return diedOf({ sql, scope: this.scope, ttlMs }, nodes);
  }

  get partitions(): number {
    return this.options.partitions;
  }

  /** Takes those of `wanted` that none of these nodes holds. */
  async take(wanted: readonly number[], holders: readonly string[]): Promise<OwnedPartition[]> {
    const { sql, node, generation } = this.options;
    if (wanted.length === 0) return [];
    const others = holders.filter((id) => id !== node);
    const rows = await sql<(PartitionRow & { former: string | null })[]>`
      update runtime_partitions p set owner = ${node}, epoch = epoch + 1, sources = 'take' from (
        select partition, owner as former from runtime_partitions
        where partition = any(${numbers(wanted)}::int[]) and (owner is null or not owner = any(${texts(others)}::text[]))
          and generation = ${generation}
        order by partition for update) free
      where p.partition = free.partition
      returning p.partition, p.epoch, p.owner, p.mailbox_offset, p.outbox_seq, free.former,
        (select runtime_incarnation()) as incarnation`;
    return rows.map((row) => toOwned(row, row.former));
  }

  /**
   * Takes partitions this node holds once more under a new epoch: after a commit whose end is unknown.
   * Waits for a commit still under way, so that what comes back is final. Lost ones are missing from the answer.
   */
  async retake(partitions: readonly number[]): Promise<OwnedPartition[]> {
    const { sql, node, generation } = this.options;
    const rows = await sql<PartitionRow[]>`
      update runtime_partitions p set epoch = epoch + 1, sources = 'take' from (
        select partition from runtime_partitions
        where partition = any(${numbers(partitions)}::int[]) and owner = ${node} and generation = ${generation}
        order by partition for update) mine
      where p.partition = mine.partition
      returning p.partition, p.epoch, p.owner, p.mailbox_offset, p.outbox_seq,
        (select runtime_incarnation()) as incarnation`;
    return rows.map((row) => toOwned(row, node));
  }

  async release(partitions: readonly number[]): Promise<void> {
    const { sql, node } = this.options;
    if (partitions.length === 0) return;
    await sql`
      update runtime_partitions set owner = null where partition = any(${numbers(partitions)}::int[]) and owner = ${node}`;
  }
}

function isKnownToAll(needs: LeaseTable["needs"], nodes: readonly WillingNode[]): boolean {
  return [...needs.values()]
    .flat()
    .every((need) => need !== null && nodes.every(({ knowledge }) => knows(knowledge, need)));
}

function toOwned(row: PartitionRow, former: string | null): OwnedPartition {
  return {
    partition: row.partition,
    epoch: Number(row.epoch),
    mailboxOffset: row.mailbox_offset,
    incarnation: row.incarnation,
    outboxSequence: Number(row.outbox_seq),
    former,
  };
}
