/**
 * Which Redis tests run on: `SVC_TEST_REDIS` is `single` (when absent), `cluster` or `sentinel`. All tests of a run share
 * one Cluster, or one primary with its Sentinels; each has a key prefix of its own.
 */
import type { RedisServers } from "../../../src/store/redis/connections.ts";
import { RedisCluster } from "./cluster.ts";
import { SentinelRedis } from "./sentinel.ts";

export type RedisKind = "single" | "cluster" | "sentinel";

/** Names the kind, for a run and for its child processes. */
export const kindVariable = "SVC_TEST_REDIS";

function chosen(): RedisKind {
  const kind = process.env[kindVariable] ?? "single";
  if (kind === "single" || kind === "cluster" || kind === "sentinel") return kind;
  throw new Error(`${kindVariable} is "${kind}"; it must be single, cluster or sentinel`);
}

export const redisKind: RedisKind = chosen();

/** Servers of several processes; null for a single server, which is part of the usual stores. */
export function startRedis(kind: RedisKind): Promise<RedisCluster | SentinelRedis | null> {
  switch (kind) {
    case "single":
      return Promise.resolve(null);
    case "cluster":
      return RedisCluster.start();
    case "sentinel":
      return SentinelRedis.start();
  }
}

/** Names for a child process the servers that its tests share. */
export const sharedServersVariable = "SVC_TEST_REDIS_SERVERS";

let shared: Promise<RedisServers | undefined> | null = null;
let stop: (() => Promise<void>) | null = null;

async function findShared(): Promise<RedisServers | undefined> {
  const given = process.env[sharedServersVariable];
  if (given !== undefined) return JSON.parse(given) as RedisServers;
  const redis = await startRedis(redisKind);
  if (redis === null) return undefined;
  stop = () => redis.dispose();
  return redis.servers;
}

/** The Cluster or the servers with Sentinel that this run's tests share; undefined where they use the single server. */
export function sharedServers(): Promise<RedisServers | undefined> {
  shared ??= findShared();
  return shared;
}

/** Stops what this process started. */
export async function leaveSharedServers(): Promise<void> {
  shared = null;
  await stop?.();
  stop = null;
}
