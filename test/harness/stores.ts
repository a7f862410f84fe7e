/**
 * Real stores for tests. Started once for all test processes (or given by DATABASE_URL and REDIS_URL);
 * every call of `freshStores` gets its own database and its own key prefix, so tests run side by side. Redis is a single
 * server unless `SVC_TEST_REDIS` says otherwise (`redis/kind.ts`).
 */
import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { type JoinedStores, joinStores } from "../../src/store/embedded/stores.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";
import { openRedis, primariesOf, type RedisServers } from "../../src/store/redis/connections.ts";
import { TestDatabases } from "./databases.ts";
import { leaveSharedServers, sharedServers } from "./redis/kind.ts";

export interface TestStores {
  readonly sql: Sql;
  readonly databaseUrl: string;
  readonly schema: string;
  readonly redisUrl: string;
  /** Instead of the server at `redisUrl`; absent where that one is meant. */
  readonly redisServers?: RedisServers;
  readonly prefix: string;
  /** Drops the database and the keys, and closes the connections opened here. */
  dispose(): Promise<void>;
}

/** Making a database's files costs a tenth of the time in memory; this much must be free there, bytes. */
const memory = "/dev/shm";
const wantedInMemory = 4 * 1024 ** 3;

/** Where test stores live; tests that start nodes of their own must use another data directory. */
export const testDataDir = dataDirOf(join(import.meta.dir, "../../.svc/test"));

/** @param folder of this checkout, whose stores are no other's also in memory */
function dataDirOf(folder: string): string {
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < wantedInMemory) return folder;
  } catch {
    return folder;
  }
  return join(memory, `svc-test-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`);
}

/** The stores shared by every test process. They stop with the last process that leaves. */
export function joinTestStores(): Promise<JoinedStores> {
  return joinStores({ dataDir: testDataDir, durable: false, maxConnections: 500 });
}

interface SharedStores {
  readonly databases: TestDatabases;
  readonly redisUrl: string;
}

let shared: Promise<SharedStores> | null = null;

async function sharedStores(): Promise<SharedStores> {
  const { DATABASE_URL, REDIS_URL } = process.env;
  if (DATABASE_URL && REDIS_URL) return { databases: new TestDatabases(DATABASE_URL), redisUrl: REDIS_URL };
  const joined = await joinTestStores();
  leaving = () => joined.leave();
  if (joined.databaseUrl === null || joined.redisUrl === null) throw new Error("unreachable: both stores were wanted");
  return { databases: new TestDatabases(joined.databaseUrl), redisUrl: joined.redisUrl };
}

let leaving: (() => Promise<void>) | null = null;

/** Ends this process's use of the shared stores. Called by the preload after the last test. */
export async function leaveTestStores(): Promise<void> {
  const used = shared;
  shared = null;
  await (await used)?.databases.close();
  await leaving?.();
  leaving = null;
  await leaveSharedServers();
}

/** A database with a migrated schema, and a key prefix, that no other caller has. */
export async function freshStores(): Promise<TestStores> {
  shared ??= sharedStores();
  const [{ databases, redisUrl }, redisServers] = await Promise.all([shared, sharedServers()]);
  const name = `t_${Date.now().toString(36)}_${crypto.randomUUID().slice(0, 8)}`;
  const databaseUrl = await databases.make(name);
  const sql = openPostgres({ url: databaseUrl, schema: name, poolSize: 10 });
  let disposed: Promise<void> | null = null;
  const dispose = async () => {
    await sql.end({ timeout: 5 });
    await databases.drop(name);
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
