/** Stores for a bench: real, durable, its own, gone afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinStores } from "../../src/store/embedded/stores.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres/pool.ts";

export interface BenchStores {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly sql: Sql;
  readonly schema: string;
  stop(): Promise<void>;
}

export async function startBenchStores(): Promise<BenchStores> {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const joined = await joinStores({ dataDir, maxConnections: 600 });
  const { databaseUrl, redisUrl } = joined;
  if (databaseUrl === null || redisUrl === null) throw new Error("unreachable: both stores were wanted");
  const schema = "svc";
  const sql = openPostgres({ url: databaseUrl, schema, poolSize: 40 });
  await migrate(sql, schema);
  return {
    dataDir,
    databaseUrl,
    redisUrl,
    sql,
    schema,
    async stop() {
      await sql.end({ timeout: 2 });
      await joined.leave();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the write-ahead log one of a server that has run for a while: its files are used again instead of being made
 * and zeroed one by one, which holds every commit up for some 50 ms each time.
 */
export async function ageWriteAheadLog(sql: Sql): Promise<void> {
  await sql`alter system set min_wal_size = '1GB'`;
  await sql`select pg_reload_conf()`;
  for (let file = 0; file < 60; file++) {
    await sql`select pg_logical_emit_message(true, 'bench', 'x')`;
    await sql`select pg_switch_wal()`;
  }
  await sql`checkpoint`;
}

export const durability = "fsync on, synchronous_commit on, Redis AOF everysec";
