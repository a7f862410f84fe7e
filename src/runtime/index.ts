/**
 * The durable actor runtime: mailboxes, leases, the lane, outbox, activities, timers and tails.
 * What it guarantees, and how, is in README.md beside this file.
 */

import { isDatabaseUnavailable, type Sql } from "../store/postgres/pool.ts";
import { openRedis, openSubscriber, type RedisServers, slotGroupsOf } from "../store/redis/connections.ts";
import { type Consumer, type ConsumerCounts, createConsumer, type RuntimeClock, type RuntimeWork } from "./consumer.ts";
import { DeadLetters } from "./dead-letters/dead-letter.ts";
import { eraseTenant } from "./erasing.ts";
import { actorsOf, type HandleLinks } from "./handle.ts";
import type { CrashPoint } from "./lane/options.ts";
import { Calls } from "./mailbox/calls.ts";
import { MailboxWriter } from "./mailbox/mailbox.ts";
import { idWhere, partitionOf, runtimeKeys } from "./mailbox/partition.ts";
import { sending } from "./mailbox/sending.ts";
import { liveNodes } from "./ownership/liveness.ts";
import { type Runtime, RuntimeUnavailable } from "./port.ts";
import { reading } from "./reads/reading.ts";
import { Tails } from "./reads/tail.ts";
import { within } from "./timeout.ts";

export type { RuntimeWork } from "./consumer.ts";
export type { CrashPoint } from "./lane/options.ts";
export { settlePartitions } from "./ownership/partitions.ts";
export * from "./port.ts";

export interface RuntimeOptions {
  /** Migrated; the pool must have room for the lane's connection besides all others. */
  readonly sql: Sql;
  /** Connections for the heartbeat, which no work may delay; those of `sql` when absent. */
  readonly beside?: Sql;
  /** Called when `beside` has written a heartbeat: the database answers there and takes writes. */
  readonly beaten?: () => void;
  readonly redisServers: RedisServers;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Nodes that share running sandboxes share this name. */
  readonly host: string;
  readonly partitions: number;
  /** How often their number was changed; 0 when left out. */
  readonly generation?: number;
  readonly leaseTtlMs: number;
  /** Messages a partition's mailbox may hold. */
  readonly mailboxLimit: number;
  /** Actors kept in memory. */
  readonly cachedActors: number;
  /** An actor idle this long leaves memory, ms. */
  readonly actorIdleMs: number;
  /** Host-bound work of a host that stays away this long is resumed elsewhere, ms. */
  readonly orphanAfterMs: number;
  /** How long dead letters are kept, and work that no node runs; 30 each when left out. */
  readonly retentionDays?: { readonly deadLetters: number; readonly activities: number };
  readonly clock: RuntimeClock;
  readonly random: () => number;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
  /** For fault tests: called at each named point. */
  readonly crash?: (point: CrashPoint) => void;
}

/** The runtime of a node: reads at once, sends from `start` on. */
export interface NodeRuntime extends Runtime {
  /** Takes this node's share of the partitions, then begins to work on their messages and activities. Called once. */
  start(work: RuntimeWork): Promise<void>;
  /**
   * To be told when a store answers again after it was away: calls, outcomes and effects that wait for it are sent at once,
   * rather than when they would be repeated.
   */
  storeBack(): void;
  /** How long the lane has been working on the batch under way, ms; 0 between batches. */
  busyMs(): number;
  /** Whether the number of partitions was changed since this node started: only a restart makes it work again. */
  isOutdated(): boolean;
}

/**
 * Makes a node's runtime without taking work: what is built on it can be given the handle, and tell `start` its actors.
 * Until then it reads what is committed and refuses messages with RuntimeUnavailable.
 */
export function createRuntime(options: RuntimeOptions): NodeRuntime {
  const { sql, clock, partitions } = options;
  const crash = options.crash ?? (() => {});
  const node = clock.newId();
  const commands = openRedis(options.redisServers);
  const subscriber = openSubscriber(options.redisServers);
  const keys = runtimeKeys(options.prefix, slotGroupsOf(commands), options.generation);
  const calls = new Calls(node);
  const writer = new MailboxWriter({ redis: commands, keys, limit: options.mailboxLimit, now: clock.now });
  let consumer: Consumer | null = null;
  let draining = false;
  const sender = sending({
    node,
    partitions,
    calls,
    writer,
    now: clock.now,
    lane: () => consumer?.lane ?? null,
    acknowledges: () => consumer?.acknowledges() ?? false,
    crash,
  });
  const { tell, tellCommitted, ask } = sender;
  const tails = new Tails({ sql, subscriber, commands, keys, node, partitions, now: clock.now });
  const deadLetters = new DeadLetters(sql);
  let drained: Promise<void> | null = null;
  const reads = reading(sql);
  const links: HandleLinks = {
    ask: (to, type, body, askOptions = {}) => refused() ?? ask(to, type, body, askOptions),
    tell: (to, type, body) => refused() ?? tell(to, type, body),
    tellCommitted: (to, type, body) => refused() ?? tellCommitted(to, type, body),
    ...reads,
    newId(kind) {
      const id = clock.newId();
      const held = consumer?.lane.held;
      if (held === undefined || held.size === 0 || held.size === partitions) return id;
      return idWhere(kind, id, partitions, (partition) => held.has(partition)) ?? id;
    },
    isHere: (kind, key) => consumer?.lane.held.has(partitionOf(kind, key, partitions)) === true,
    tail: (at, after, listener) => tails.follow(at, after, listener),
  };

  /** A refusal outside of the time between `start` and `drain`; null within it. */
  function refused(): Promise<never> | null {
    if (consumer !== null && !draining) return null;
    return Promise.reject(
      new RuntimeUnavailable(draining ? "This node is shutting down" : "This node is not started yet"),
    );
  }

  async function start(work: RuntimeWork): Promise<void> {
    if (consumer !== null || draining) throw new Error("a runtime is started once");
    const created = createConsumer(options, work, {
      node,
      keys,
      commands,
      subscriber,
      calls,
      tails,
      sender,
    });
    consumer = created;
    await created.start();
  }

  /** Hands partitions and work over. While a store is away the other nodes take them once the lease has expired. */
  async function leave(): Promise<void> {
    draining = true;
    await consumer?.stop();
    calls.close();
    tails.close();
    for (const connection of [commands, subscriber]) connection.disconnect();
  }

  const redisAnswers = () => within(statusTimeoutMs, () => commands.ping());

  return {
    nodeId: node,
    start,
    of: (definition) => actorsOf(links, definition),
    deadLetters: {
      list: (filter) => deadLetters.list(filter),
      inspect: (id) => deadLetters.inspect(id),
      page: (filter, page) => deadLetters.page(filter, page),
      replay: (id, replayed) => deadLetters.replay(id, replayed),
    },
    redisAnswers,
    async status() {
      const [database, redis] = await Promise.all([
        within(statusTimeoutMs, () =>
          sql`select 1`.catch((error: unknown) => {
            if (isDatabaseUnavailable(error)) throw error;
          }),
        ),
        redisAnswers(),
      ]);
      const { partitions, consuming } = consumer?.status() ?? { partitions: 0, consuming: false };
      return { database, redis, partitions, consuming, draining };
    },
    storeBack: () => consumer?.storeBack(),
    busyMs: () => consumer?.busyMs() ?? 0,
    isOutdated: () => consumer?.isOutdated() === true,
    async waitingForVersion() {
      const [row] = await sql<[{ count: number }]>`select count(*)::int as count from runtime_parked`;
      return row.count;
    },
    silentNodes: (forMs) => sql<{ id: string; lastSeenAt: Date }[]>`
      select id::text, heartbeat_at as "lastSeenAt" from runtime_nodes
      where heartbeat_at < now() - ${`${forMs} milliseconds`}::interval`,
    liveNodes: () => liveNodes({ sql, ttlMs: options.leaseTtlMs }),
    eraseTenant: (tenant) => eraseTenant(sql, clock.newId, tenant),
    counts: () => ({ ...(consumer?.counts() ?? idle), tails: tails.size, calls: calls.size }),
    drain() {
      drained ??= leave();
      return drained;
    },
  };
}

/** Of a runtime that is not started. */
const idle: ConsumerCounts = {
  turns: 0,
  commits: 0,
  deadLetters: 0,
  backlog: 0,
  backlogBytes: 0,
  timers: 0,
  cachedActors: 0,
  cachedBytes: 0,
  activitiesRunning: 0,
  activitiesWaiting: 0,
  activitiesWaitingBytes: 0,
};

/** A store that takes longer than this to answer is as good as away, ms. */
const statusTimeoutMs = 1000;
