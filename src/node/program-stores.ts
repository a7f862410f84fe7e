/** The stores that the service's settings name, for programs beside the nodes; and the migrations of a node's start. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { joinStores } from "../store/embedded/stores.ts";
import { migrate } from "../store/migrate.ts";
import type { DatabaseFacts } from "../store/postgres/facts.ts";
import { openPostgres, type Sql } from "../store/postgres/pool.ts";
import { reachDatabase, reachRedis } from "../store/reach.ts";
import { openRedis, type RedisClient } from "../store/redis/connections.ts";
import { type RedisLimits, redisServersOf, withLimits } from "../store/redis/servers.ts";
import type { Config } from "./config.ts";

const timeoutMs = 10_000;

/** How long is waited for Redis, and whom its certificate may be signed by, as the settings say. */
export function redisLimitsOf(config: Config): RedisLimits {
  const { storeConnectMs: connectMs, redisCommandMs: commandMs, redisCa } = config;
  return { connectMs, commandMs, ...(redisCa === null ? {} : { ca: readFileSync(redisCa, "utf8") }) };
}

export interface ProgramStores {
  readonly databaseUrl: string;
  readonly sql: Sql;
  readonly redis: RedisClient;
}

/**
 * Opens the stores for as long as `act` takes, and leaves them as they were: embedded ones are joined, or started.
 * @param progress one line about what takes long
 * @throws StartFailure when one cannot be reached
 */
export async function withStores<T>(
  config: Config,
  progress: (line: string) => void,
  act: (stores: ProgramStores) => Promise<T>,
): Promise<T> {
  const givenRedis = redisServersOf(config);
  const stores = await joinStores({
    dataDir: resolve(config.dataDir),
    want: { postgres: config.databaseUrl === null, redis: givenRedis === null },
    log: progress,
  });
  const databaseUrl = config.databaseUrl ?? stores.databaseUrl ?? "";
  const redisServers = withLimits(givenRedis ?? stores.redisUrl ?? "", redisLimitsOf(config));
  try {
    const [{ pooled, host }] = await Promise.all([
      reachDatabase(databaseUrl, timeoutMs),
      reachRedis(redisServers, timeoutMs),
    ]);
    const sql = openPostgres({ url: databaseUrl, host, pooled, schema: config.databaseSchema, poolSize: 2 });
    const redis = openRedis(redisServers);
    try {
      return await act({ databaseUrl, sql, redis });
    } finally {
      redis.disconnect();
      await sql.end({ timeout: 2 });
    }
  } finally {
    await stores.leave();
  }
}

/**
 * Brings the schema up to date over connections of its own, past a pooler where `DATABASE_DIRECT_URL` says how.
 * @param known of the database at `databaseUrl`, where the caller has looked already
 * @returns the names of the migrations that were applied
 * @throws StartFailure as `migrate` does
 */
export async function migrateDirectly(
  config: Pick<Config, "databaseDirectUrl" | "databaseSchema">,
  databaseUrl: string,
  progress: (line: string) => void,
  known: DatabaseFacts | null = null,
): Promise<readonly string[]> {
  const direct = config.databaseDirectUrl;
  const url = direct ?? databaseUrl;
  const setting = direct === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL";
  const { pooled, host } = direct === null && known !== null ? known : await reachDatabase(url, timeoutMs, { setting });
  const sql = openPostgres({ url, host, pooled, schema: config.databaseSchema, poolSize: 2 });
  try {
    return await migrate(sql, config.databaseSchema, { pooled, progress });
  } finally {
    await sql.end({ timeout: 2 });
  }
}
