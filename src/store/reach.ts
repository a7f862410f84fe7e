/** Waiting for the stores at the start: a bounded while, then one sentence that an operator can act on. */
import { Redis } from "ioredis";
import { StartFailure } from "../lib/start-failure.ts";
import { withTimeout } from "../lib/timers.ts";
import type { Sql } from "./postgres.ts";
import { openRedis, type RedisServers } from "./redis.ts";
import { describeServers } from "./redis-servers.ts";

const pauseMs = 250;

export interface Reach {
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly redisServers: RedisServers;
  /** How long a store may take to answer; they often start together with the service. */
  readonly timeoutMs: number;
}

/**
 * Resolves when both stores answer.
 * @throws StartFailure
 */
export async function reachStores({ sql, databaseUrl, redisServers, timeoutMs }: Reach): Promise<void> {
  const redis = openRedis(redisServers);
  const { place, setting } = describeServers(redisServers);
  // Commands only tell that they were given up; why the connection failed is told here.
  let lastFailure: Error | null = null;
  const note = (error: Error) => {
    lastFailure = error;
  };
  if (redis instanceof Redis) redis.on("error", note);
  // A Cluster's own error says only that none of its nodes answered.
  else redis.on("node error", note);
  try {
    await Promise.all([
      waitFor("PostgreSQL", hostOf(databaseUrl), "DATABASE_URL", timeoutMs, async () => sql`select 1`),
      waitFor("Redis", place, setting, timeoutMs, () =>
        redis.ping().catch((error: Error) => {
          throw isRefusal(error) ? error : (lastFailure ?? error);
        }),
      ),
    ]);
  } finally {
    redis.disconnect();
  }
}

/** Asks until there is an answer, a refusal that will not change by itself, or the time is over. */
async function waitFor(
  store: string,
  place: string,
  setting: string,
  timeoutMs: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  const until = Date.now() + timeoutMs;
  let reason = "no answer";
  const expired = new Error(reason);
  while (Date.now() < until) {
    try {
      await withTimeout(ask(), until - Date.now(), () => expired);
      return;
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

/** Where it was looked for, without user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || "its socket" : "its address";
}
