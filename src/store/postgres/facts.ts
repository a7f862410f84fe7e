/** What a node finds out about its database when it starts: whether a pooler stands between, and how safe it is. */

import { StoreAway } from "../away.ts";
import { openPostgres, type Sql, usualConnectMs } from "./pool.ts";
import { parseDatabaseUrl } from "./url.ts";

export interface DatabaseFacts {
  /** A pooler stands between: the greeting names another process than the one that answers. */
  readonly pooled: boolean;
  /** Which of the URL's hosts accepts writes. */
  readonly host: number;
  /** As in `server_version_num`: 150004 is 15.4. */
  readonly version: number;
  readonly synchronousCommit: string;
  /** Whether commits wait for a standby. */
  readonly hasSynchronousStandby: boolean;
  readonly fsync: boolean;
  readonly fullPageWrites: boolean;
}

interface Row {
  readonly pid: number;
  readonly reads: boolean;
  readonly version: number;
  readonly synchronous_commit: string;
  readonly standbys: string;
  readonly fsync: string;
  readonly full_page_writes: string;
}

/**
 * Asks the hosts of a URL in turn for one that accepts writes.
 * @throws what the last one failed with
 */
export async function inspectDatabase(url: string, connectMs = usualConnectMs): Promise<DatabaseFacts> {
  const { hosts } = parseDatabaseUrl(url);
  let failure: unknown = null;
  for (const host of hosts.keys()) {
    try {
      return await inspectHost(url, host, connectMs);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function inspectHost(url: string, host: number, connectMs: number): Promise<DatabaseFacts> {
  const sql = openPostgres({ url, host, schema: "", poolSize: 1, connectMs, pooled: true });
  try {
    const { pooled, ...settings } = await databaseSettings(sql);
    return { pooled, host, ...settings };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** How the database that answers is set up. @throws StoreAway where it is read-only */
export async function databaseSettings(sql: Sql): Promise<Omit<DatabaseFacts, "host">> {
  const rows = await sql<Row[]>`
    select pg_backend_pid() as pid, current_setting('server_version_num')::int as version,
      pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as reads,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('synchronous_standby_names') as standbys,
      current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes`;
  const [row] = rows;
  if (row === undefined || row.reads) throw new StoreAway("PostgreSQL", "it is read-only");
  return {
    pooled: rows.state.pid !== row.pid,
    version: row.version,
    synchronousCommit: row.synchronous_commit,
    hasSynchronousStandby: row.standbys !== "" && !/^(off|local)$/.test(row.synchronous_commit),
    fsync: row.fsync === "on",
    fullPageWrites: row.full_page_writes === "on",
  };
}

/** Something that works, but not as well as is promised: for operators. */
export interface Weakness {
  readonly code: string;
  readonly message: string;
}

/** @param production whether a failover is provided for: a machine of its own has no standby */
export function databaseWeaknesses(facts: Omit<DatabaseFacts, "host">, production: boolean): readonly Weakness[] {
  const found: Weakness[] = [];
  const say = (code: string, message: string) => found.push({ code, message });
  if (facts.version < 150_000) {
    say("postgres_version", `PostgreSQL ${Math.floor(facts.version / 10_000)} is older than 15, the oldest supported`);
  }
  if (/^(off|local)$/.test(facts.synchronousCommit)) {
    const what = facts.synchronousCommit === "off" ? "disk" : "a standby";
    say(
      "postgres_synchronous_commit",
      `synchronous_commit is ${facts.synchronousCommit}: commits do not wait for ${what}`,
    );
  }
  if (!facts.fsync || !facts.fullPageWrites) {
    say("postgres_fsync", "fsync or full_page_writes is off: a crash of its machine may destroy the database");
  }
  if (production && !facts.hasSynchronousStandby) {
    say("postgres_standby", "Commits wait for no standby: a failover of PostgreSQL may lose the last ones");
  }
  return found;
}
