/** Waiting for the stores at the start: a bounded while, then one sentence that an operator can act on. */
import { Redis } from "ioredis";
import { StartFailure } from "../lib/start-failure.ts";
import { withTimeout } from "../lib/timers.ts";
import { type DatabaseFacts, inspectDatabase } from "./postgres/facts.ts";
import { usualConnectMs } from "./postgres/pool.ts";
import { namesOf, parseDatabaseUrl } from "./postgres/url.ts";
import { openRedis, type RedisServers } from "./redis/connections.ts";
import { inspectRedis, type RedisFacts } from "./redis/facts.ts";
import { describeServers } from "./redis/servers.ts";

const pauseMs = 250;

/**
 * Resolves once the database answers and accepts writes.
 * @param timeoutMs how long it may take; stores often start together with the service
 * @throws StartFailure
 */
export async function reachDatabase(
  url: string,
  timeoutMs: number,
  { connectMs = usualConnectMs, setting = "DATABASE_URL" } = {},
): Promise<DatabaseFacts> {
  const place = namesOf(parseDatabaseUrl(url));
  return await waitFor("PostgreSQL", place, setting, timeoutMs, () => inspectDatabase(url, connectMs));
}

/**
 * Resolves once Redis answers.
 * @param timeoutMs as of the database
 * @throws StartFailure
 */
export async function reachRedis(servers: RedisServers, timeoutMs: number): Promise<RedisFacts> {
  const redis = openRedis(servers);
  const { place, setting } = describeServers(servers);
  // Commands only tell that they were given up; why the connection failed is told here.
  let lastFailure: Error | null = null;
  const note = (error: Error) => {
    lastFailure = error;
  };
  if (redis instanceof Redis) redis.on("error", note);
  // A Cluster's own error says only that none of its nodes answered.
  else redis.on("node error", note);
  try {
    return await waitFor("Redis", place, setting, timeoutMs, () =>
      inspectRedis(redis).catch((error: Error) => {
        throw isRefusal(error) ? error : (lastFailure ?? error);
      }),
    );
  } finally {
    redis.disconnect();
  }
}

/** Asks until there is an answer, a refusal that will not change by itself, or the time is over. */
async function waitFor<T>(
  store: string,
  place: string,
  setting: string,
  timeoutMs: number,
  ask: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + timeoutMs;
  let reason = "no answer";
  const expired = new Error(reason);
  while (performance.now() < until) {
    try {
      return await withTimeout(ask(), until - performance.now(), () => expired);
    } catch (error) {
      if (error === expired) break;
      if (!(error instanceof Error)) throw error;
      reason = error.message;
      if (isRefusal(error)) throw new StartFailure(`${store} at ${place} refuses: ${reason}. Check ${setting}.`);
      await Bun.sleep(pauseMs);
    }
  }
  throw new StartFailure(`${store} at ${place} cannot be reached (${reason}). Check ${setting}.`);
}

/** The store is there and refuses us: wrong user, password or database. */
function isRefusal(error: Error): boolean {
  const code = "code" in error ? String(error.code) : "";
  return /^(28|3D)...$/.test(code) || /^(NOAUTH|WRONGPASS|NOPERM)\b/.test(error.message);
}
