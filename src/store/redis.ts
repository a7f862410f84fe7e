/** Redis connections. One per purpose: a blocking read or a subscription must not hold up commands. */

import { Redis, type RedisOptions } from "ioredis";
import { withTimeout } from "../lib/timers.ts";

const base = {
  // A restarted server is found again within half a second; commands wait meanwhile.
  retryStrategy: (attempt: number) => Math.min(500, 20 * 2 ** attempt),
  enableReadyCheck: true,
  connectTimeout: 5000,
} satisfies RedisOptions;

/**
 * For commands. Pipelines all commands of one tick. A command that cannot be sent within
 * a few reconnects fails, so that callers get an answer while Redis is away.
 */
export function openRedis(url: string): Redis {
  return quiet(new Redis(url, { ...base, enableAutoPipelining: true, maxRetriesPerRequest: 3 }));
}

/** For blocking reads, subscriptions and BullMQ: waits for Redis as long as it takes. */
export function openRetryingRedis(url: string): Redis {
  return quiet(new Redis(url, { ...base, maxRetriesPerRequest: null }));
}

/** Outages are seen by the commands that fail; an `error` event without a listener would end the process. */
function quiet(redis: Redis): Redis {
  redis.on("error", () => {});
  return redis;
}

/** Whether an error says "Redis is not there now" and nothing about the command. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "MaxRetriesPerRequestError" || error.name === "ClusterAllFailedError") return true;
  return /^(Connection is closed|LOADING|CLUSTERDOWN|MASTERDOWN|READONLY)|enableOfflineQueue/.test(error.message);
}

/** How long a request waits for a reply of Redis, ms. */
const replyMs = 5_000;

/** The reply of a command. @throws unavailable() when Redis fails or does not answer within 5 s */
export async function replyInTime<T>(command: Promise<T>, unavailable: () => Error): Promise<T> {
  return withTimeout(command, replyMs, unavailable).catch(() => {
    throw unavailable();
  });
}
