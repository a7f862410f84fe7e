/** Waiting for the stores at the start: a bounded while, then one sentence that an operator can act on. */
import { StartFailure } from "../lib/start-failure.ts";
import type { Sql } from "./postgres.ts";
import { openRedis } from "./redis.ts";

const pauseMs = 250;

export interface Reach {
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** How long a store may take to answer; they often start together with the service. */
  readonly patienceMs: number;
}

/**
 * Resolves when both stores answer.
 * @throws StartFailure
 */
export async function reachStores({ sql, databaseUrl, redisUrl, patienceMs }: Reach): Promise<void> {
  const redis = openRedis(redisUrl);
  // Commands only tell that they were given up; why the connection failed is told here.
  let lastFailure: Error | null = null;
  redis.on("error", (error: Error) => {
    lastFailure = error;
  });
  try {
    await Promise.all([
      insist("PostgreSQL", databaseUrl, "DATABASE_URL", patienceMs, async () => sql`select 1`),
      insist("Redis", redisUrl, "REDIS_URL", patienceMs, () =>
        redis.ping().catch((error: Error) => {
          throw isRefusal(error) ? error : (lastFailure ?? error);
        }),
      ),
    ]);
  } finally {
    redis.disconnect();
  }
}

/** Asks until there is an answer, a refusal that will not change by itself, or no patience left. */
async function insist(
  store: string,
  url: string,
  setting: string,
  patienceMs: number,
  ask: () => Promise<unknown>,
): Promise<void> {
  const until = Date.now() + patienceMs;
  let reason = "no answer";
  while (Date.now() < until) {
    try {
      if (await answered(ask(), until - Date.now())) return;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      reason = error.message;
      if (isRefusal(error)) throw new StartFailure(`${store} at ${hostOf(url)} refuses: ${reason}. Check ${setting}.`);
      await Bun.sleep(pauseMs);
    }
  }
  throw new StartFailure(`${store} at ${hostOf(url)} cannot be reached (${reason}). Check ${setting}.`);
}

/** False when the time is over first. */
async function answered(asked: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([asked.then(() => true), late]);
  } finally {
    clearTimeout(timer);
    asked.catch(() => {});
  }
}

/** It is there, and will not have us: wrong user, password or database. */
function isRefusal(error: Error): boolean {
  const code = "code" in error ? String(error.code) : "";
  return /^(28|3D)...$/.test(code) || /^(NOAUTH|WRONGPASS|NOPERM)\b/.test(error.message);
}

/** Where it was looked for, without user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || "its socket" : "its address";
}
