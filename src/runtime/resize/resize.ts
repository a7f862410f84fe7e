/**
 * Changes the number of partitions while no node runs: docs/decisions/partitions-resized-in-one-transaction.md.
 *
 * All of it is one transaction of PostgreSQL; Redis is only read. Ended at any moment it has happened or it has not. What
 * is left behind it are the former mailboxes, which nothing reads any more: this program closes them, the next node to
 * start, or this program once more.
 */
import { StartFailure } from "../../lib/start-failure.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type RedisClient, slotGroupsOf } from "../../store/redis/connections.ts";
import { Arrivals } from "../lane/exchange/arrivals.ts";
import { loadAhead } from "../lane/exchange/received.ts";
import type { Received } from "../lane/exchange/sources.ts";
import { takeOverMailboxes } from "../mailbox/former.ts";
import { runtimeKeys } from "../mailbox/partition.ts";
import { type Partitioning, readPartitioning } from "../ownership/partitions.ts";
import { isGone } from "../ownership/processes.ts";
import { assignPartitions } from "./assignment.ts";
import { closeFormerMailboxes } from "./former-mailboxes.ts";
import { lockTable } from "./lock.ts";
import { keepEffects, keepMailbox } from "./waiting.ts";

/** As the setting that says how many a new database gets. */
export const mostPartitions = 1024;

/** The last migration that a program must have to work with a number of partitions that was changed. */
const needed = "0009_resized_partitions.sql";

/** A node whose heartbeat is older than this is gone, with any lease time, seconds. */
const goneAfterSeconds = 60;

export interface ResizeOptions {
  readonly sql: Sql;
  readonly redis: RedisClient;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** How many partitions there are to be. */
  readonly to: number;
  /** One line about what is done. */
  readonly progress: (line: string) => void;
}

export interface Resized {
  readonly from: number;
  /** Messages that waited, and go on waiting. */
  readonly waiting: number;
}

/**
 * @returns null where the number is this one already
 * @throws StartFailure while nodes run, and where there is nothing to change; other errors when a store fails: nothing
 *   has happened then, and it may be repeated
 */
export async function resizePartitions(options: ResizeOptions): Promise<Resized | null> {
  const { sql, redis, prefix, to } = options;
  await requireSchema(sql);
  const before = await readPartitioning(sql);
  if (before.count === 0)
    throw new StartFailure("No node has set this database up: SVC_PARTITIONS is read at the first start.");
  let resized: Resized | null = null;
  if (before.count !== to) {
    await sql.begin((tx) => refuseForNodes(sql, tx));
    // From a single server to a Cluster: until then they are where they were on that server.
    const keys = runtimeKeys(prefix, slotGroupsOf(redis), before.generation);
    await takeOverMailboxes({ sql, redis, keys, report: () => {} });
    resized = await sql.begin((tx) => resize(tx, before, options));
  }
  await closeFormerMailboxes({ sql, redis, prefix });
  return resized;
}

async function requireSchema(sql: Sql): Promise<void> {
  const [found] = await sql<{ tables: boolean; migrated: boolean }[]>`
    select to_regclass('runtime_partitions') is not null as tables,
      to_regclass('runtime_former_mailboxes') is not null as migrated`;
  if (found?.tables !== true) throw new StartFailure("No node has set up the schema of this database.");
  if (!found.migrated) throw new StartFailure("The schema is of an earlier version: run `npm run -s migrate` first.");
}

/** From here on no node can join, until the transaction has ended. @throws StartFailure while some live */
async function refuseForNodes(sql: Sql, tx: Transaction): Promise<void> {
  await lockTable(sql, tx, { table: "runtime_nodes", mode: "share row exclusive" });
  const nodes = await tx<{ id: string; pid: number; pid_scope: string; age: number }[]>`
    select id, pid, pid_scope, ceil(extract(epoch from now() - heartbeat_at))::int as age from runtime_nodes
    where heartbeat_at > now() - make_interval(secs => ${goneAfterSeconds}) order by id`;
  const live = nodes.filter((node) => !isGone(node));
  if (live.length === 0) return;
  const list = live.map(({ id, age }) => `${id} (seen ${age} s ago)`).join(", ");
  throw new StartFailure(
    `Nodes run: ${list}. Stop them first; one that was killed on another machine counts as gone after ${goneAfterSeconds} s.`,
  );
}

async function resize(
  tx: Transaction,
  { count, generation }: Partitioning,
  { sql, redis, prefix, to, progress }: ResizeOptions,
): Promise<Resized> {
  await tx`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '60s', true)`;
  await refuseForNodes(sql, tx);
  // Programs beside the nodes that send a message to a partition wait until the new number is there.
  await lockTable(sql, tx, { table: "runtime_partitions", mode: "exclusive" });
  const now = await readPartitioning(tx);
  if (now.generation !== generation)
    throw new StartFailure("The number of partitions was just changed by another program.");
  // What nodes of a former version received is in the row of the partition: a new epoch makes rows of it.
  await tx`update runtime_partitions set epoch = epoch + 1, sources = 'take'`;
  const received = await receivedBy(tx);
  const rows = await tx<{ partition: number; offset: string; incarnation: string }[]>`
    select partition, mailbox_offset as offset, runtime_incarnation() as incarnation from runtime_partitions
    order by partition`;
  const ahead = await loadAhead(
    tx,
    rows.map(({ partition }) => partition),
  );
  const keys = runtimeKeys(prefix, slotGroupsOf(redis), generation);
  progress(`Reading the messages that wait in ${count} mailboxes`);
  let waiting = 0;
  for (const { incarnation, ...row } of rows) {
    const taken: Received = received.get(row.partition) ?? new Map();
    received.set(row.partition, taken);
    const arrivals = new Arrivals(ahead.get(row.partition));
    waiting += await keepMailbox(tx, redis, keys, { ...row, received: taken, arrivals, incarnation });
  }
  waiting += await keepEffects(tx, count, received);
  progress(`Spreading actors, timers and ${waiting} waiting messages over ${to} partitions`);
  await assignPartitions(tx, to);
  await tx`insert into runtime_former_mailboxes (generation, partitions) values (${generation}, ${count})`;
  await tx`delete from runtime_nodes`;
  // Programs of versions before do not know that mailboxes have other names now.
  await tx`insert into migrations (name, needs) values (${`${needed} applied`}, ${needed}) on conflict do nothing`;
  return { from: count, waiting };
}

/** By partition, the last number of each source that it has taken. */
async function receivedBy(tx: Transaction): Promise<Map<number, Received>> {
  const rows = await tx<{ partition: number; received: string }[]>`
    select partition, json_agg(json_build_array(source, seq))::text as received from runtime_received group by partition`;
  return new Map(rows.map((row) => [row.partition, new Map(JSON.parse(row.received) as [string, number][])]));
}
