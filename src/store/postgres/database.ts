/** The database of a running node: a pool for its work, connections beside it that no work delays, and the watch. */
import type { DatabaseFacts } from "./facts.ts";
import { openPostgres, type Sql } from "./pool.ts";
import { type DatabaseWatch, type WatchOptions, watchDatabase } from "./watch.ts";

/** Whether statements are prepared once for a connection; `auto`: not behind a pooler. */
export type Prepared = "auto" | "on" | "off";

export interface DatabaseOptions {
  readonly url: string;
  readonly facts: DatabaseFacts;
  readonly schema: string;
  /** Connections for work. */
  readonly poolSize: number;
  /** How long a connection may take to be opened, ms. */
  readonly connectMs: number;
  /** Bound of a statement, ms. */
  readonly statementMs: number;
  readonly prepared: Prepared;
  readonly report: WatchOptions["report"];
}

export interface Database {
  readonly sql: Sql;
  /** For heartbeats and questions: its connections are used by nothing that may take long. */
  readonly beside: Sql;
  readonly watch: DatabaseWatch;
  close(): Promise<void>;
}

/** How long a question of the watch may take to be connected, ms: a database that is back is noticed that soon. */
const besideConnectMs = 2_000;
const closeSeconds = 5;

export function openDatabase(options: DatabaseOptions): Database {
  const { url, facts, schema, poolSize, connectMs, statementMs, prepared, report } = options;
  const { pooled, host } = facts;
  const shared = {
    url,
    host,
    schema,
    statementMs,
    pooled,
    prepared: prepared === "auto" ? !pooled : prepared === "on",
  };
  const sql = openPostgres({ ...shared, poolSize, connectMs });
  const beside = openPostgres({ ...shared, poolSize: 3, connectMs: Math.min(connectMs, besideConnectMs) });
  const watch = watchDatabase({ pool: sql, probe: beside, url, host, statementMs, pooled, report });
  return {
    sql,
    beside,
    watch,
    async close() {
      // The watch goes last: a pool that waits for a database that hangs would wait for ever.
      await Promise.all([sql.end({ timeout: closeSeconds }), beside.end({ timeout: closeSeconds })]);
      watch.stop();
    },
  };
}
