/**
 * Real stores for tests. Started once for all test processes (or given by DATABASE_URL and REDIS_URL);
 * every call of `freshStores` gets its own schema and its own key prefix, so tests run side by side. Redis is a single
 * server unless `SVC_TEST_REDIS` says otherwise (`redis/kind.ts`).
 */
import { join } from "node:path";
import { type JoinedStores, joinStores } from "../../src/store/embedded/stores.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { openRedis, primariesOf, type RedisServers } from "../../src/store/redis/connections.ts";
import { leaveSharedServers, sharedServers } from "./redis/kind.ts";

export interface TestStores {
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly schema: string;
  readonly redisUrl: string;
  /** Instead of the server at `redisUrl`; absent where that one is meant. */
  readonly redisServers?: RedisServers;
  readonly prefix: string;
  /** Drops the schema and the keys, and closes the connections opened here. */
  dispose(): Promise<void>;
}

/** Where test stores live; tests that start nodes of their own must use another data directory. */
export const testDataDir = join(import.meta.dir, "../../.svc/test");

/** The stores shared by every test process. They stop with the last process that leaves. */
export function joinTestStores(): Promise<JoinedStores> {
  return joinStores({ dataDir: testDataDir, durable: false, maxConnections: 300 });
}

let shared: Promise<{ databaseUrl: string; redisUrl: string }> | null = null;

async function sharedStores(): Promise<{ databaseUrl: string; redisUrl: string }> {
  const { DATABASE_URL, REDIS_URL } = process.env;
  if (DATABASE_URL && REDIS_URL) return { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL };
  const joined = await joinTestStores();
  leaving = () => joined.leave();
  if (joined.databaseUrl === null || joined.redisUrl === null) throw new Error("unreachable: both stores were wanted");
  return { databaseUrl: joined.databaseUrl, redisUrl: joined.redisUrl };
}

let leaving: (() => Promise<void>) | null = null;

/** Ends this process's use of the shared stores. Called by the preload after the last test. */
export async function leaveTestStores(): Promise<void> {
  shared = null;
  await leaving?.();
  leaving = null;
  await leaveSharedServers();
}

/** A migrated schema and a key prefix that nobody else has. */
export async function freshStores(): Promise<TestStores> {
  shared ??= sharedStores();
  const [{ databaseUrl, redisUrl }, redisServers] = await Promise.all([shared, sharedServers()]);
  const name = `t_${Date.now().toString(36)}_${crypto.randomUUID().slice(0, 8)}`;
  const sql = openPostgres({ url: databaseUrl, schema: name, poolSize: 10 });
  await migrate(sql, name);
  let disposed: Promise<void> | null = null;
  const dispose = async () => {
    await sql`drop schema if exists ${sql(name)} cascade`;
    await sql.end({ timeout: 5 });
    await deleteKeys(redisServers ?? redisUrl, name);
  };
  return {
    sql,
    databaseUrl,
    schema: name,
    redisUrl,
    ...(redisServers === undefined ? {} : { redisServers }),
    prefix: name,
    dispose: () => {
      disposed ??= dispose();
      return disposed;
    },
  };
}

/** Takes away what Redis holds under a prefix. */
export async function deleteKeys(servers: RedisServers, prefix: string): Promise<void> {
  const redis = openRedis(servers);
  // The masters of a Cluster are known once it answers.
  await redis.ping();
  for (const server of primariesOf(redis)) {
    let cursor = "0";
    do {
      const [next, keys] = await server.scan(cursor, "MATCH", `*${prefix}*`, "COUNT", 1000);
      // One by one: they lie in different slots.
      await Promise.all(keys.map((key) => server.unlink(key)));
      cursor = next;
    } while (cursor !== "0");
  }
  redis.disconnect();
}
