/**
 * The durable actor runtime: puts mailboxes, leases, lanes, outbox, activities, timers and tails together.
 * What it guarantees, and how, is in README.md beside this file.
 */
import { isDatabaseUnavailable, type Sql } from "../store/postgres.ts";
import { openPatientRedis, openRedis } from "../store/redis.ts";
import { ActivityRunner } from "./activities/runner.ts";
import { DeadLetters } from "./dead-letters/dead-letter.ts";
import { Outbox, type TimerJob } from "./effects/outbox.ts";
import { Journal } from "./lane/journal.ts";
import { Lane } from "./lane/lane.ts";
import type { CrashPoint } from "./lane/options.ts";
import { Turns } from "./lane/turn.ts";
import { type Answer, Calls } from "./mailbox/calls.ts";
import { type Delivery, keepIdsAbove, MailboxReader, MailboxWriter, trimTo } from "./mailbox/mailbox.ts";
import { runtimeKeys } from "./mailbox/partition.ts";
import { flushPendingTells, storePendingTells } from "./mailbox/pending-tell.ts";
import { sending } from "./mailbox/sending.ts";
import { Leases } from "./ownership/lease.ts";
import { Ownership } from "./ownership/ownership.ts";
import {
  type ActivityDefinition,
  type AnyActorDefinition,
  type News,
  type Projection,
  type Runtime,
  RuntimeUnavailable,
} from "./port.ts";
import { reading } from "./reads/reading.ts";
import { Tails } from "./reads/tail.ts";
import { within } from "./timeout.ts";
import { Timers } from "./timers/timer.ts";

export type { CrashPoint } from "./lane/options.ts";
export * from "./port.ts";

export interface RuntimeOptions {
  /** Migrated; the pool must have room for one connection per lane besides everything else. */
  readonly sql: Sql;
  readonly redisUrl: string;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Nodes that share running sandboxes share this name. */
  readonly host: string;
  readonly actors: readonly AnyActorDefinition[];
  readonly activities: readonly ActivityDefinition[];
  readonly projections: readonly Projection[];
  readonly partitions: number;
  readonly leaseTtlMs: number;
  /** Messages a partition's mailbox may hold. */
  readonly mailboxLimit: number;
  /** Actors kept in memory. */
  readonly residents: number;
  /** An actor idle this long leaves memory, ms. */
  readonly idleMs: number;
  /** Host-bound work of a host that stays away this long is resumed elsewhere, ms. */
  readonly orphanAfterMs: number;
  readonly clock: { now(): number; newId(): string };
  readonly random: () => number;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
  /** Told what this node committed; a hint, since a crash may come between. Must not throw. */
  readonly announced?: (news: readonly News[]) => void;
  /** For fault tests: called at each named point. */
  readonly crash?: (point: CrashPoint) => void;
}

/** Lanes per node: one computes while another waits for PostgreSQL; more only split batches. */
const laneCount = 1;
const batchSize = 512;
const readCount = 256;
const bufferLimit = 2048;

/** Starts a node of the runtime; it takes its share of the partitions before this resolves. */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { sql, clock, partitions, host } = options;
  const crash = options.crash ?? (() => {});
  const keys = runtimeKeys(options.prefix);
  const node = clock.newId();
  const commands = openRedis(options.redisUrl);
  const blocking = openPatientRedis(options.redisUrl);
  const subscriber = openPatientRedis(options.redisUrl);
  const jobs = openPatientRedis(options.redisUrl);
  const worker = openPatientRedis(options.redisUrl);

  const calls = new Calls(node);
  const writer = new MailboxWriter({ redis: commands, keys, limit: options.mailboxLimit, now: clock.now });
  let draining = false;
  const { tell, conclude, ask, askDirect, askRepeatable } = sending({
    node,
    partitions,
    calls,
    writer,
    now: clock.now,
    laneOf: (partition) => laneOf(partition),
    crash,
  });

  const timers = new Timers({
    connection: jobs,
    blocking: worker,
    prefix: `${options.prefix}:bull`,
    now: clock.now,
    fire: (timer: TimerJob) => tell(timer, timer.type, timer.body),
  });
  const outbox = new Outbox({ redis: commands, keys, partitions, jobs: timers });
  const tails = new Tails({ sql, subscriber, commands, keys, node, partitions });
  const leases = new Leases({ sql, node, host, partitions, ttlMs: options.leaseTtlMs });
  const turns = new Turns(options.actors, clock, partitions);
  const projections = new Map(options.projections.map((projection) => [projection.kind, projection]));
  const runner = new ActivityRunner({
    sql,
    node,
    host,
    definitions: options.activities,
    now: clock.now,
    random: options.random,
    orphanAfterMs: options.orphanAfterMs,
    // What an activity asks it may have asked before, on a node that died.
    ask: askRepeatable,
    tell,
    conclude,
    broadcastAbandon: (id) => {
      commands.publish(keys.abandoned, id).catch(() => {});
    },
    report: options.log,
    crash,
  });

  const lanes: Lane[] = Array.from(
    { length: Math.min(laneCount, partitions) },
    () =>
      new Lane({
        node,
        sql,
        journal: new Journal(sql, node, host, options.leaseTtlMs),
        leases,
        outbox,
        turns,
        partitions,
        projections,
        clock,
        batchSize,
        bufferLimit,
        residents: options.residents,
        idleMs: options.idleMs,
        isHostBound: runner.isHostBound,
        follow: (partition, offset) => reader.follow(partition, offset),
        unfollow: (partition) => reader.unfollow(partition),
        wakeReader: () => reader.wake(),
        trim: (partition, offset) => {
          trimTo(commands, keys.mailbox(partition), offset).catch(() => {});
        },
        keepIdsAbove: (partition, offset) => keepIdsAbove(commands, keys.mailbox(partition), offset),
        reply: ({ call, answer }) => calls.settle(call, answer),
        announce: (news) => {
          tails.announce(news);
          options.announced?.(news);
        },
        refreshTails: (owned) => tails.announceTakeover(owned),
        perform: (rows) => runner.perform(rows),
        abandon: (ids) => runner.abandon(ids),
        lost: () => ownership.nudge(),
        report: options.log,
        crash,
      }),
  );
  const laneOf = (partition: number) => lanes[partition % lanes.length] as Lane;
  const reader = new MailboxReader({
    redis: blocking,
    commands,
    keys,
    node,
    count: readCount,
    hasRoom: (partition) => laneOf(partition).hasRoom(partition),
    deliver: (deliveries: readonly Delivery[]) => {
      for (const delivery of deliveries) laneOf(delivery.partition).deliver(delivery);
    },
  });
  const pendingTells = { sql, send: tell };
  const ownership = new Ownership({
    leases,
    lanes,
    redis: commands,
    keys,
    node,
    ttlMs: options.leaseTtlMs,
    crash,
    report: options.log,
    onLook: async (live) => {
      await runner.sweep(live);
      await flushPendingTells(pendingTells, 2000);
    },
  });

  subscriber.on("message", (channel: string, text: string) => {
    if (channel === keys.leases && text !== node) ownership.nudge();
    else if (channel === keys.abandoned) runner.abandonHere(text);
    else if (channel === keys.replies(node)) {
      const [call, answer] = JSON.parse(text) as [string, Answer];
      calls.settle(call, answer);
    }
  });
  await subscriber.subscribe(keys.leases, keys.abandoned, keys.replies(node));

  for (const lane of lanes) lane.start();
  reader.start();
  await ownership.start();
  timers.start();

  const deadLetters = new DeadLetters(sql, tell);
  let drained: Promise<void> | null = null;

  /** Hands everything over. What cannot be handed over, because a store is away, the others take when the lease is over. */
  async function leave(): Promise<void> {
    draining = true;
    const step = async (what: string, patienceMs: number, act: () => Promise<unknown>) => {
      if (!(await within(patienceMs, act))) options.log("handover_incomplete", { step: what });
    };
    await step("timers", options.leaseTtlMs, () => timers.stop());
    await step("activities", activityPatienceMs, () => runner.drain());
    await step("partitions", options.leaseTtlMs, () => ownership.stop());
    await step("mailboxes", options.leaseTtlMs, () => reader.stop());
    await step("turns", options.leaseTtlMs, () => Promise.all(lanes.map((lane) => lane.stop())));
    await step("lease", options.leaseTtlMs, () => ownership.leave());
    calls.close();
    tails.close();
    for (const connection of [commands, subscriber, jobs, worker]) connection.disconnect();
  }

  return {
    nodeId: node,
    tell: (to, type, body) => (draining ? Promise.reject(leaving()) : tell(to, type, body)),
    ask: (to, type, body, deadlineMs) => (draining ? Promise.reject(leaving()) : ask(to, type, body, deadlineMs)),
    askDirect: (to, type, body, deadlineMs) =>
      draining ? Promise.reject(leaving()) : askDirect(to, type, body, deadlineMs),
    askRepeatable: (to, type, body, deadlineMs) =>
      draining ? Promise.reject(leaving()) : askRepeatable(to, type, body, deadlineMs),
    askNew: (to, type, body, deadlineMs) =>
      draining ? Promise.reject(leaving()) : askDirect(to, type, body, deadlineMs, true),
    async tellWithin(tx, messages) {
      await storePendingTells(tx, messages, clock.newId);
      // Not yet committed; soon after it will be, and the regular look finds whatever this one misses.
      setTimeout(() => void flushPendingTells(pendingTells, 0).catch(() => {}), 20);
    },
    ...reading(sql),
    tail: (at, after, listener) => tails.follow(at, after, listener),
    deadLetters: {
      list: (filter) => deadLetters.list(filter),
      inspect: (id) => deadLetters.inspect(id),
      replay: (id) => deadLetters.replay(id),
    },
    async status() {
      const [database, redis] = await Promise.all([
        within(statusPatienceMs, () =>
          sql`select 1`.catch((error: unknown) => {
            if (isDatabaseUnavailable(error)) throw error;
          }),
        ),
        within(statusPatienceMs, () => commands.ping()),
      ]);
      const now = Date.now();
      const stuck = lanes.some((lane) => lane.busySince !== null && now - lane.busySince > options.leaseTtlMs);
      const held = lanes.reduce((sum, lane) => sum + lane.held.size, 0);
      return {
        database,
        redis,
        partitions: held,
        consuming: !stuck && now - reader.lastReadAt < 5000 && now - ownership.allOwnedAt < options.leaseTtlMs * 2,
        draining,
      };
    },
    counts() {
      const sum = (value: (lane: Lane) => number) => lanes.reduce((total, lane) => total + value(lane), 0);
      const { running, waiting } = runner.counts();
      return {
        turns: sum((lane) => lane.counts.turns),
        commits: sum((lane) => lane.counts.commits),
        deadLetters: sum((lane) => lane.counts.deadLetters),
        backlog: sum((lane) => lane.backlog),
        residents: sum((lane) => lane.residents),
        activitiesRunning: running,
        activitiesWaiting: waiting,
        tails: tails.size,
      };
    },
    drain() {
      drained ??= leave();
      return drained;
    },
  };
}

/** A store that takes longer than this to answer is as good as away, ms. */
const statusPatienceMs = 1000;
/** How long a leaving node waits for its activities to let go, ms. */
const activityPatienceMs = 10_000;

function leaving(): RuntimeUnavailable {
  return new RuntimeUnavailable("This node is shutting down");
}
