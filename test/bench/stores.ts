/** Stores for a bench: real, durable, its own, gone afterwards. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinStores } from "../../src/store/embedded/stores.ts";
import { migrate } from "../../src/store/migrate.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";

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
  const joined = await joinStores({ dataDir });
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

export const durability = "fsync on, synchronous_commit on, Redis AOF everysec";
