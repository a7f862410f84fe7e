/** The working half of a node's runtime: the lane that takes turns, what feeds it, and what its turns set off. */

import type { Redis } from "ioredis";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { DatabaseClock } from "../store/postgres/clock.ts";
import type { Sql } from "../store/postgres/pool.ts";
import { openBlockingRedis, type RedisClient, type RedisServers } from "../store/redis/connections.ts";
import { ActivityRunner } from "./activities/runner.ts";
import { Outbox } from "./effects/outbox.ts";
import { Journal } from "./lane/journal.ts";
import { Lane } from "./lane/lane.ts";
import type { CrashPoint } from "./lane/options.ts";
import { Turns } from "./lane/turn.ts";
import type { Answer, Calls } from "./mailbox/calls.ts";
import { takeOverMailboxes } from "./mailbox/former.ts";
import { Lineage } from "./mailbox/lineage.ts";
import { type Delivery, keepIdsAbove } from "./mailbox/mailbox.ts";
import { partitionOf, type runtimeKeys } from "./mailbox/partition.ts";
import { MailboxReader } from "./mailbox/reader.ts";
import type { sending } from "./mailbox/sending.ts";
import { Trimming } from "./mailbox/trimming.ts";
import { Leases } from "./ownership/lease.ts";
import { Ownership } from "./ownership/ownership.ts";
import type { Activity, FactWriter, News, Projection, RuntimeCounts } from "./port.ts";
import type { Tails } from "./reads/tail.ts";
import { closeFormerMailboxes } from "./resize/former-mailboxes.ts";
import { retryUntil, within } from "./timeout.ts";
import { Clockwork } from "./timers/clockwork.ts";
import { noteRearm, readTimers } from "./timers/store.ts";
import type { TimerRow } from "./timers/timer.ts";
import { startUpkeep } from "./upkeep.ts";
import { knowledgeOf } from "./versions/knowledge.ts";

/** What a runtime works on. */
export interface RuntimeWork {
  readonly actors: readonly AnyActorDefinition[];
  readonly activities: readonly Activity[];
  readonly projections: readonly Projection[];
  /** One of each name. */
  readonly facts?: readonly FactWriter[];
  /** Told what this node committed; a hint, since a crash may come between. Must not throw. */
  readonly announced?: (news: readonly News[]) => void;
  /** Called when Redis may have lost what it held. Must not throw. */
  readonly redisLost?: () => void;
  /** Called when an owner of partitions died, or the end of a commit is in doubt: it was perhaps told to no one. Must not throw. */
  readonly interrupted?: () => void;
}

export interface RuntimeClock {
  /** Unix ms. */
  now(): number;
  newId(): string;
  /** Behind `now`: it is told PostgreSQL's time with each heartbeat. Absent: `now` is kept right by its maker. */
  readonly database?: DatabaseClock;
}

export interface ConsumerOptions {
  readonly sql: Sql;
  readonly beside?: Sql;
  readonly beaten?: () => void;
  readonly redisServers: RedisServers;
  readonly prefix: string;
  readonly host: string;
  readonly partitions: number;
  readonly generation?: number;
  readonly leaseTtlMs: number;
  readonly cachedActors: number;
  readonly actorIdleMs: number;
  readonly orphanAfterMs: number;
  /** How long dead letters are kept, and work that no node runs; 30 each when left out. */
  readonly retentionDays?: { readonly deadLetters: number; readonly activities: number };
  readonly clock: RuntimeClock;
  readonly random: () => number;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
  readonly crash?: (point: CrashPoint) => void;
}

/** What it shares with the runtime's handle. */
export interface ConsumerLinks {
  readonly node: string;
  readonly keys: ReturnType<typeof runtimeKeys>;
  readonly commands: RedisClient;
  readonly subscriber: Redis;
  readonly calls: Calls;
  readonly tails: Tails;
  readonly sender: ReturnType<typeof sending>;
}

export type ConsumerCounts = Omit<RuntimeCounts, "tails" | "calls">;

export interface Consumer {
  readonly lane: Lane;
  /** Whether every live node says what it has taken. */
  acknowledges(): boolean;
  /** Whether the number of partitions was changed since this node started. */
  isOutdated(): boolean;
  /** Takes this node's share of the partitions before it resolves. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** See `NodeRuntime`. */
  storeBack(): void;
  /** How long the lane has been working on the batch under way, ms. */
  busyMs(): number;
  status(): { readonly partitions: number; readonly consuming: boolean };
  counts(): ConsumerCounts;
}

const batchSize = 512;
const readCount = 256;
/** Of one partition's messages, or of one tenant's that were handed over in memory. */
const inboxLimits = {
  messages: 2048,
  bytes: 8 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
  batchBytes: 4 * 1024 * 1024,
  aside: { from: 256, lines: 8, messages: 32_768, bytes: 16 * 1024 * 1024, totalBytes: 32 * 1024 * 1024 },
};

export function createConsumer(options: ConsumerOptions, work: RuntimeWork, links: ConsumerLinks): Consumer {
  const { sql, clock, partitions, host } = options;
  const { node, keys, commands, subscriber, calls, tails, sender } = links;
  const { tell, sendOutcome } = sender;
  const crash = options.crash ?? (() => {});

  const outbox = new Outbox({
    redis: commands,
    keys,
    partitions,
    formerTimer: (actor) => noteRearm(sql, actor),
    allReadRows: () => ownership.acknowledge,
    here: {
      takes: (partition) => lane.held.has(partition) && lane.hasRoom(partition),
      deliver: (delivery) => lane.deliver(delivery),
    },
  });
  const timers = new Clockwork({
    now: clock.now,
    read: (owned, until, limit) => readTimers(sql, owned, until, limit),
    takes: ({ partition, tenant }) => lane.takes(partition, tenant),
    fire: (row) => lane.deliver(firedTimer(row)),
  });
  const leases = new Leases({
    sql,
    beside: options.beside ?? sql,
    node,
    host,
    partitions,
    generation: options.generation ?? 0,
    knowledge: knowledgeOf(
      work.actors,
      work.activities.map(({ definition }) => definition),
    ),
    ttlMs: options.leaseTtlMs,
    ...(options.beaten === undefined ? {} : { beaten: options.beaten }),
    ...(clock.database === undefined ? {} : { clock: clock.database }),
  });
  const factWriters = new Map(work.facts?.map((writer) => [writer.name, writer]));
  const turns = new Turns(work.actors, clock, partitions, factWriters);
  const projections = projectionsByKind(work.projections);
  const runner = new ActivityRunner({
    sql,
    node,
    host,
    activities: work.activities,
    now: clock.now,
    random: options.random,
    orphanAfterMs: options.orphanAfterMs,
    ask: (to, type, body, askOptions) => sender.ask(to, type, body, { ...askOptions, repeatable: true }),
    tell,
    sendOutcome,
    died: (nodes) => leases.died(nodes),
    broadcastAbandon: (id) => {
      commands.publish(keys.abandoned, id).catch(() => {});
    },
    report: options.log,
    crash,
  });

  const trimming = new Trimming(commands, keys);
  const lane: Lane = new Lane({
    node,
    sql,
    journal: new Journal(sql, { node, host }, options.leaseTtlMs),
    leases,
    outbox,
    timers,
    turns,
    partitions,
    projections,
    factWriters,
    clock,
    batchSize,
    inbox: inboxLimits,
    cachedActors: options.cachedActors,
    actorIdleMs: options.actorIdleMs,
    isHostBound: runner.isHostBound,
    follow: (partition, offset) => reader.follow(partition, offset),
    unfollow: (partition) => reader.unfollow(partition),
    wakeReader: () => reader.wake(),
    trim: (partition, offset) => trimming.trim(partition, offset),
    remove: (partition, ids) => {
      commands.xdel(keys.mailbox(partition), ...ids).catch(() => {});
    },
    mayDivide: () => ownership.takesAhead,
    keepIdsAbove: (partition, offset) => keepIdsAbove(commands, keys.mailbox(partition), offset).catch(keepLater),
    reply: ({ call, answer }) => calls.settle(call, answer),
    acknowledge: (senders) => outbox.acknowledge(senders),
    announce: (news) => {
      tails.announce(news);
      work.announced?.(news);
    },
    refreshTails: (owned) => tails.announceTakeover(owned),
    interrupted: () => work.interrupted?.(),
    perform: (rows) => runner.perform(rows),
    abandon: (ids) => runner.abandon(ids),
    lost: () => ownership.lookNow(),
    unknownMet: () => ownership.lookNow(),
    report: options.log,
    crash,
  });
  const reader = new MailboxReader({
    open: () => openBlockingRedis(options.redisServers),
    commands,
    keys,
    node,
    count: readCount,
    hasRoom: (partition) => lane.hasRoom(partition),
    deliver: (deliveries: readonly Delivery[]) => {
      for (const delivery of deliveries) lane.deliver(delivery);
    },
    reply: settle,
  });
  const ownership = new Ownership({
    leases,
    lane,
    redis: commands,
    keys,
    node,
    ttlMs: options.leaseTtlMs,
    crash,
    report: options.log,
    // Work that another node left begins once its messages got past, so that what ends this one can be told apart.
    onLook: async (live, isDue) => {
      if (!ownership.acknowledge) calls.forgetAcknowledged();
      return isDue && !lane.isCareful && (await runner.sweep(live));
    },
  });

  subscriber.on("message", (channel: string, text: string) => {
    if (channel === keys.leases && text !== node) ownership.lookNow();
    else if (channel === keys.abandoned) runner.abandonHere(text);
    // From nodes of the former version.
    else if (channel === keys.replies(node)) settle(text);
  });

  function settle(text: string): void {
    const [call, answer] = JSON.parse(text) as [string, Answer];
    calls.settle(call, answer);
  }

  const lineage = new Lineage({
    redis: commands,
    keys: Array.from({ length: keys.slotGroups }, (_, group) => keys.epoch(group)),
    newId: clock.newId,
    lost: () => void refill(),
  });

  let isKeepingLater = false;

  /** Redis is away while a partition is taken: ids of later messages are kept above those taken once it is back. */
  function keepLater(): void {
    if (isKeepingLater) return;
    isKeepingLater = true;
    void keepPositions().finally(() => {
      isKeepingLater = false;
    });
  }

  const keepPositions = () =>
    retryUntil(
      () => reader.keepPositions(),
      () => isStopping,
    );

  /** Messages, replies and outcomes that Redis may have lost go out again from where they are kept. */
  async function refill(): Promise<void> {
    options.log("message_store_lost", {});
    work.redisLost?.();
    await keepPositions();
    calls.storeLost();
    runner.sendResultsAgain();
    lane.refill();
  }
  let isStopping = false;
  let stopUpkeep: (() => Promise<void>) | null = null;

  async function start(): Promise<void> {
    void lineage.start();
    await subscriber.subscribe(keys.leases, keys.abandoned, keys.replies(node));
    await closeFormerMailboxes({ sql, redis: commands, prefix: options.prefix });
    await takeOverMailboxes({ sql, redis: commands, keys, report: options.log });
    lane.start();
    reader.start();
    await ownership.start();
    stopUpkeep = startUpkeep({
      sql,
      redis: commands,
      prefix: `${options.prefix}:bull`,
      isHere: ({ kind, key }) => lane.held.has(partitionOf(kind, key, partitions)),
      rearm: sender.rearm,
      sendOutcome,
      days: options.retentionDays ?? { deadLetters: 30, activities: 30 },
      report: options.log,
    });
  }

  async function stop(): Promise<void> {
    isStopping = true;
    lineage.stop();
    const step = async (what: string, timeoutMs: number, act: () => Promise<unknown>) => {
      if (!(await within(timeoutMs, act))) options.log("handover_incomplete", { step: what });
    };
    await step("upkeep", options.leaseTtlMs, async () => stopUpkeep?.());
    await step("activities", activityTimeoutMs, () => runner.drain());
    await step("partitions", options.leaseTtlMs, () => ownership.stop());
    await step("mailboxes", options.leaseTtlMs, () => reader.stop());
    await step("turns", options.leaseTtlMs, () => lane.stop());
    timers.stop();
    await step("lease", options.leaseTtlMs, () => ownership.leave());
  }

  const busyMs = () => lane.busyMs;

  return {
    lane,
    acknowledges: () => ownership.acknowledge,
    isOutdated: () => ownership.isOutdated,
    start,
    stop,
    storeBack() {
      calls.storeBack();
      runner.sendResultsAgain();
      lane.refill();
    },
    busyMs,
    status() {
      const now = performance.now();
      return {
        partitions: lane.held.size,
        consuming:
          busyMs() <= options.leaseTtlMs &&
          !ownership.isOutdated &&
          now - reader.lastReadAt < 5000 &&
          now - ownership.allOwnedAt < options.leaseTtlMs * 2,
      };
    },
    counts() {
      const { running, waiting, waitingBytes } = runner.counts();
      return {
        ...lane.counts,
        backlog: lane.backlog.messages,
        backlogBytes: lane.backlog.bytes,
        cachedActors: lane.cache.size,
        cachedBytes: lane.cache.characters,
        timers: timers.size,
        activitiesRunning: running,
        activitiesWaiting: waiting,
        activitiesWaitingBytes: waitingBytes,
      };
    },
  };
}

/** How long a leaving node waits for its activities to let go, ms. */
const activityTimeoutMs = 10_000;

/** The message that a timer becomes, under an id that it has whenever it is fired. */
function firedTimer(row: TimerRow): Delivery {
  const { partition, fence, kind, key, tenant, type, body } = row;
  const names = { source: `t${partition}`, sequence: fence, kind, key, tenant, type };
  const envelope = { ...names, body: JSON.parse(body) as Json, replyTo: null, activity: null, fresh: false };
  return { partition, id: null, envelope, raw: "", timer: row };
}

/** Several features may derive rows from one kind of actor: their statements are parts of the same commit. */
function projectionsByKind(all: readonly Projection[]): ReadonlyMap<string, Projection> {
  return new Map(
    [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, some]) => {
      const [first] = some;
      if (first !== undefined && some.length === 1) return [kind, first];
      const joined: Projection = {
        kind,
        project: (changes) => some.flatMap((one) => one.project(changes)),
        committed: (changes) => some.forEach((one) => void one.committed?.(changes)),
      };
      return [kind, joined];
    }),
  );
}
