/** What a node stands on: its log, its data directory, its stores. */
import { chmod, mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { Problem } from "../../actors/kernel/problem.ts";
import { createLogger, readableLines } from "../http/operations/log.ts";
import { StartFailure } from "../lib/start-failure.ts";
import { settlePartitions } from "../runtime/index.ts";
import { queuesGoBy } from "../store/bullmq.ts";
import { joinStores } from "../store/embedded/stores.ts";
import { DatabaseClock, measureEveryMs } from "../store/postgres/clock.ts";
import { openDatabase } from "../store/postgres/database.ts";
import { type DatabaseFacts, databaseWeaknesses, type Weakness } from "../store/postgres/facts.ts";
import { openPostgres } from "../store/postgres/pool.ts";
import { renewPooled, settleRole } from "../store/postgres/role.ts";
import { reachDatabase, reachRedis } from "../store/reach.ts";
import { redisRefusal, redisWeaknesses } from "../store/redis/facts.ts";
import { RedisGate } from "../store/redis/gate.ts";
import { redisServersOf, withLimits } from "../store/redis/servers.ts";
import { watchRedis } from "../store/redis/watch.ts";
import type { Config } from "./config.ts";
import type { Disposer } from "./disposer.ts";
import { migrateDirectly, redisLimitsOf } from "./program-stores.ts";

/** How long a starting node waits for its stores, ms. */
const storeTimeoutMs = 10_000;

/** Connections of a node that are not of its pool: migrations, notices, the watch of the database. */
const connectionsBesidePool = 6;

export type Stores = Awaited<ReturnType<typeof openStores>>;

/**
 * @param progress one line about what takes long
 * @throws when a store cannot be had
 */
export async function openStores(config: Config, disposer: Disposer, progress: (line: string) => void) {
  const dataDir = resolve(config.dataDir);
  const logger = createLogger(
    config.logLevel,
    config.mode === "development" ? readableLines((text) => process.stdout.write(text)) : undefined,
  );
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Also one that was there: the agents' user has no way in. A volume of a cluster may belong to another user.
  await chmod(dataDir, 0o700).catch((error: unknown) => {
    logger.warn({ reason: `SVC_DATA_DIR stays open to other users of the host: ${String(error)}` }, "storage");
  });
  const givenRedis = redisServersOf(config);
  const stores = await joinStores({
    dataDir,
    want: { postgres: config.databaseUrl === null, redis: givenRedis === null },
    log: progress,
    maxConnections: Math.max(200, config.nodes * (config.databasePool + connectionsBesidePool) + 20),
  });
  disposer.push(() => stores.leave(), { always: true });
  const databaseUrl = config.databaseUrl ?? stores.databaseUrl;
  const redis = givenRedis ?? stores.redisUrl;
  if (databaseUrl === null || redis === null) throw new Error("unreachable: both stores are given or joined");
  const redisServers = withLimits(redis, { ...redisLimitsOf(config), gate: new RedisGate() });
  const [facts, redisFacts] = await Promise.all([
    reachDatabase(databaseUrl, storeTimeoutMs, { connectMs: config.storeConnectMs }),
    reachRedis(redisServers, storeTimeoutMs),
  ]);
  const production = config.mode === "production";
  const refusal = redisRefusal(redisFacts);
  if (production && refusal !== null) throw new StartFailure(refusal);
  await migrateDirectly(config, databaseUrl, progress, facts);
  const weaknesses = [
    ...databaseWeaknesses(facts, production),
    ...redisWeaknesses(redisFacts),
    ...(await settle(config, databaseUrl, facts)),
  ];
  for (const { code, message } of weaknesses) logger.warn({ code, reason: message }, "stores");
  const back = new Set<() => void>();
  const report = (event: string, found: object) => {
    logger.warn(found, event);
    if (event === "database_back" || event === "redis_back") for (const tell of back) tell();
  };
  const database = openDatabase({
    url: databaseUrl,
    facts,
    schema: config.databaseSchema,
    poolSize: config.databasePool,
    connectMs: config.storeConnectMs,
    statementMs: config.databaseStatementMs,
    prepared: config.databasePrepared,
    report,
  });
  const { sql } = database;
  disposer.push(() => database.close());
  const redisWatch = watchRedis(redisServers, report);
  disposer.push(() => redisWatch.stop());
  const partitioning = await settlePartitions(sql, config.partitions);
  const clock = new DatabaseClock();
  await clock.measure(sql);
  queuesGoBy(clock.now);
  // With every heartbeat too, which a node that leaves, or one whose pool is full, may miss.
  const measuring = setInterval(() => void clock.measure(sql).catch(() => {}), measureEveryMs);
  disposer.push(() => clearInterval(measuring));
  return {
    dataDir,
    logger,
    sql,
    database,
    redisWatch,
    redisServers,
    /** Has `tell` called, which must not throw, each time a store answers again after it was away. */
    onBack: (tell: () => void) => void back.add(tell),
    weaknesses,
    partitioning,
    clock,
    now: clock.now,
    databaseNow: (): number => {
      if (clock.isKnown) return clock.now();
      throw new Problem(
        "service_unavailable",
        "The time of the database is not known here",
        {},
        { "Retry-After": "5" },
      );
    },
    newId: () => Bun.randomUUIDv7("hex", clock.now()),
  };
}

/** Brings the settings of the database's role up to date, over the connections that the node will have. */
async function settle(config: Config, url: string, { pooled, host }: DatabaseFacts): Promise<readonly Weakness[]> {
  const { databaseSchema: schema, databaseStatementMs: statementMs, databasePool } = config;
  const poolSize = pooled ? databasePool : 1;
  const sql = openPostgres({ url, host, pooled, schema, statementMs, poolSize, connectMs: config.storeConnectMs });
  try {
    const weaknesses = await settleRole(sql, { schema, statementMs, pooled });
    if (pooled) await renewPooled(sql, schema, poolSize);
    return weaknesses;
  } finally {
    await sql.end({ timeout: 2 });
  }
}
