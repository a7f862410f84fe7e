/**
 * Redis connections: the one place that opens them, to a single server, by Sentinel or to a Cluster. One connection per
 * purpose, since a blocking read or a subscription must not hold up commands.
 *
 * On a Cluster every command and script touches one slot, and a pipeline is not atomic. Commands are not gathered into
 * pipelines there: where a slot moves, some commands of a pipeline are redirected and some are not.
 */
import { Cluster, type Command, type DNSLookupFunction, Redis, type RedisOptions } from "ioredis";
import { withTimeout } from "../../lib/timers.ts";
import { StoreAway } from "../away.ts";
import { anyNodeConnector } from "./connector.ts";
import type { RedisGate } from "./gate.ts";
import { clusterSlotGroups, credentialsOf, type RedisLimits, type RedisServers } from "./servers.ts";
import "./tracing.ts";

export type { RedisServers } from "./servers.ts";

/** A connection for commands or for blocking reads; the same methods in each case. */
export type RedisClient = Redis | Cluster;

// A restarted server is found again within half a second; commands wait meanwhile.
const pauseBefore = (attempt: number) => Math.min(500, 20 * 2 ** attempt);

export const usualCommandMs = 5_000;
const usualConnectMs = 5_000;

/**
 * A connection over which nothing came for this long while an answer was due is opened again, ms. Mailboxes are read for
 * two seconds at most before there is an answer, the queues of BullMQ for 10 s.
 */
const silenceMs = { commands: 4_000, subscriber: 4_000, blocking: 4_000, queue: 16_000 } as const;

const limitsOf = (servers: RedisServers): RedisLimits => (typeof servers === "string" ? {} : servers);

/** @param kind whether answers come at once */
function limits(servers: RedisServers, kind: keyof typeof silenceMs) {
  const { connectMs = usualConnectMs, commandMs = usualCommandMs } = limitsOf(servers);
  return {
    connectTimeout: connectMs,
    socketTimeout: silenceMs[kind],
    ...(kind === "commands" ? { commandTimeout: commandMs } : {}),
  } satisfies RedisOptions;
}

const base = {
  retryStrategy: pauseBefore,
  enableReadyCheck: true,
  // A primary that became a replica: the connection is opened again, where the new primary is, and the command resent.
  reconnectOnError: (error: Error) => (error.message.startsWith("READONLY") ? 2 : false),
} satisfies RedisOptions;

/** How often a command follows redirections and failures of the nodes of a Cluster, 100 ms apart, before it fails. */
const redirections = { commands: 16, blocking: 5, queue: 600 } as const;

/**
 * For commands. Those of one tick go out as one pipeline, but not on a Cluster. A command that cannot be sent within
 * a few reconnects fails, so that callers get an answer while Redis is away.
 */
export function openRedis(servers: string): Redis;
export function openRedis(servers: RedisServers): RedisClient;
export function openRedis(servers: RedisServers): RedisClient {
  if (isCluster(servers)) return openCluster(servers, "commands");
  const redis = openServer(servers, {
    ...limits(servers, "commands"),
    enableAutoPipelining: true,
    maxRetriesPerRequest: 3,
  });
  redis.gate = limitsOf(servers).gate ?? null;
  return quiet(redis);
}

/** For blocking reads that are repeated: waits for Redis as long as it takes; a read on a Cluster fails within a second. */
export function openBlockingRedis(servers: string): Redis;
export function openBlockingRedis(servers: RedisServers): RedisClient;
export function openBlockingRedis(servers: RedisServers): RedisClient {
  if (isCluster(servers)) return openCluster(servers, "blocking");
  return openWaiting(servers, "blocking");
}

const openWaiting = (servers: RedisServers, kind: "blocking" | "queue") =>
  quiet(openServer(servers, { ...limits(servers, kind), maxRetriesPerRequest: null }));

/** For BullMQ: waits for Redis as long as it takes, for a Cluster that fails over a minute. */
export function openQueueRedis(servers: RedisServers): RedisClient {
  return isCluster(servers) ? openCluster(servers, "queue") : openWaiting(servers, "queue");
}

/**
 * For subscriptions, which it renews after each reconnect (the event `ready`). What was published meanwhile is lost. Any node
 * of a Cluster will do: each hears what is published at any other.
 */
export function openSubscriber(servers: RedisServers): Redis {
  const options = { ...limits(servers, "subscriber"), maxRetriesPerRequest: null };
  if (!isCluster(servers)) return asked(openServer(servers, options));
  return asked(new Redis({ ...base, ...options, ...credentialsOf(servers), Connector: anyNodeConnector(servers) }));
}

/** What a subscription misses is a hint; each has a look at intervals, or a repeat, behind it. */
const askEveryMs = 4_000;

/** A connection that only listens is asked now and then: it would not notice that it is half open. */
function asked(redis: Redis): Redis {
  const timer = setInterval(() => {
    if (redis.status === "ready") redis.ping().catch(() => {});
  }, askEveryMs);
  redis.once("end", () => clearInterval(timer));
  return quiet(redis);
}

const isCluster = (servers: RedisServers) => typeof servers === "object" && "cluster" in servers;

/** A connection whose commands may be refused by a gate. */
class GatedRedis extends Redis {
  gate: RedisGate | null = null;

  override sendCommand(...[command, stream]: Parameters<Redis["sendCommand"]>): unknown {
    // Called by the constructor of the base as well, before there are fields.
    const refusal = this.gate?.refuses(command.name) ?? null;
    if (refusal === null) return super.sendCommand(command, stream);
    command.reject(refusal);
    return command.promise;
  }
}

function openServer(servers: RedisServers, options: Omit<RedisOptions, "replyMapping">): GatedRedis {
  const redis = newServer(servers, options);
  limitsOf(servers).gate?.join(redis);
  return redis;
}

function newServer(servers: RedisServers, options: Omit<RedisOptions, "replyMapping">): GatedRedis {
  if (typeof servers === "string") return new GatedRedis(servers, { ...base, ...options });
  if ("url" in servers) {
    const { url, ca } = servers;
    if (ca === undefined || !url.startsWith("rediss:")) return new GatedRedis(url, { ...base, ...options });
    // The client takes `rediss:` for TLS without further options.
    return new GatedRedis(url.replace("rediss:", "redis:"), { ...base, ...options, tls: { ca } });
  }
  if ("cluster" in servers) throw new TypeError("a Cluster is no single server");
  const { sentinels, name, sentinelPassword, tls } = servers;
  return new GatedRedis({
    ...base,
    ...options,
    ...credentialsOf(servers),
    sentinels: [...sentinels],
    name,
    // Without the client's listener for fail-overs: one that comes while a connection is opened ends the client for good.
    // Sentinel closes the connections of a primary that it makes a replica, and one that is silent is given up.
    sentinelRetryStrategy: pauseBefore,
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(tls ? { enableTLSForSentinelMode: true } : {}),
  });
}

/** How long a command may wait for a Cluster that cannot be reached, ms. */
const clusterWaitMs = 5000;

/** Fails commands that wait for too long: the client would keep them until the Cluster is back. */
class BoundedCluster extends Cluster {
  gate: RedisGate | null = null;

  override sendCommand(...[command, stream, node]: Parameters<Cluster["sendCommand"]>): unknown {
    const refusal = this.gate?.refuses(command.name) ?? null;
    if (refusal !== null) {
      command.reject(refusal);
      return command.promise;
    }
    if (this.status !== "ready" && stream === undefined) (command as Command).setTimeout(clusterWaitMs);
    return super.sendCommand(command, stream, node);
  }
}

const asItIs: DNSLookupFunction = (address, callback) => callback(null, address);

function openCluster(servers: Extract<RedisServers, { cluster: unknown }>, kind: keyof typeof redirections): Cluster {
  const { retryStrategy, ...node } = base;
  const cluster = new (kind === "commands" ? BoundedCluster : Cluster)([...servers.cluster], {
    clusterRetryStrategy: retryStrategy,
    maxRedirections: redirections[kind],
    slotsRefreshTimeout: 2000,
    // Names stay names where certificates are checked against them.
    ...(servers.tls ? { dnsLookup: asItIs } : {}),
    redisOptions: { ...node, ...limits(servers, kind), ...credentialsOf(servers), maxRetriesPerRequest: null },
  });
  if (cluster instanceof BoundedCluster) cluster.gate = servers.gate ?? null;
  cluster.on("error", () => {});
  return cluster;
}

/** Outages are seen by the commands that fail; an `error` event without a listener would end the process. */
function quiet(redis: Redis): Redis {
  redis.on("error", () => {});
  return redis;
}

/** The servers behind a connection that take writes: one, or the masters of a Cluster as far as they are known. */
export function primariesOf(redis: RedisClient): readonly Redis[] {
  return redis instanceof Cluster ? redis.nodes("master") : [redis];
}

/** How many slots the keys of partitions share: 16 on a Cluster; 1 elsewhere, where slots do not matter. */
export function slotGroupsOf(redis: RedisClient): number {
  return redis instanceof Cluster ? clusterSlotGroups : 1;
}

/** Whether an error says "Redis is not there now" and nothing about the command. */
export function isRedisUnavailable(error: unknown): boolean {
  if (isRedisAway(error)) return true;
  // Errors of sockets, names and TLS have a code; those that Redis answers have none.
  return error instanceof Error && "code" in error && typeof error.code === "string" && networkCode.test(error.code);
}

/** The same, only where the error is certainly of the client of Redis: connections to others fail with the same codes. */
export function isRedisAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (
    error instanceof StoreAway ||
    error.name === "MaxRetriesPerRequestError" ||
    error.name === "ClusterAllFailedError"
  )
    return true;
  return away.test(error.message);
}

const networkCode = /^(E[A-Z_]{4,}|ERR_(TLS|SSL)_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*|HOSTNAME_MISMATCH)$/;

const away =
  /^(Connection is closed|Command timed out|Socket timeout|NOAUTH|WRONGPASS|NOPERM|MISCONF|OOM |NOREPLICAS|BUSY |LOADING|CLUSTERDOWN|MASTERDOWN|READONLY|TRYAGAIN|UNBLOCKED|MOVED|ASK )|enableOfflineQueue|Too many Cluster redirections|None of startup nodes|Cluster is (ended|disconnect)/;

/**
 * How long a command of a connection for commands may take, ms. The client counts from when it sends the command: while
 * Redis hangs, that is after the commands before it were given up, twice the limit in all.
 */
export function commandMsOf(redis: RedisClient): number {
  const { commandTimeout = usualCommandMs } =
    redis instanceof Cluster ? (redis.options.redisOptions ?? {}) : redis.options;
  return commandTimeout;
}

/** How long a request waits for a reply of Redis, ms. */
const replyMs = 5_000;

/** The reply of a command. @throws unavailable() when Redis fails or does not answer within 5 s */
export async function replyInTime<T>(command: Promise<T>, unavailable: () => Error): Promise<T> {
  return withTimeout(command, replyMs, unavailable).catch(() => {
    throw unavailable();
  });
}
