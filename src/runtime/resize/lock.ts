/**
 * Locks of tables while no node runs. A node that was frozen in the middle of a statement keeps what the statement locked:
 * to PostgreSQL it is about to send the rest, which no timeout of statements or of idle transactions ends.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** A client of this service that has sent nothing in its transaction for so long is frozen or out of reach, seconds. */
const silentSeconds = 3;
const everyMs = 500;

export interface WantedLock {
  readonly table: "runtime_nodes" | "runtime_partitions";
  readonly mode: "share row exclusive" | "exclusive";
}

/**
 * Takes a lock of a table. Connections of this service that stand in the way and have been silent in their transaction for
 * 3 s are ended: nodes that run never are. Others (a backup, another program at work) are waited for.
 */
export async function lockTable(sql: Sql, tx: Transaction, { table, mode }: WantedLock): Promise<void> {
  const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const taken = new AbortController();
  const clearing = endSilentHolders(sql, own?.pid ?? 0, taken.signal);
  try {
    await tx.unsafe(`lock table ${table} in ${mode} mode`);
  } finally {
    taken.abort();
    await clearing;
  }
}

async function endSilentHolders(sql: Sql, waiting: number, until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    await delay(everyMs, undefined, { signal: until }).catch(() => {});
    if (until.aborted) return;
    // Best effort: where it fails, the lock is waited for as long as its holder keeps it.
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where pid = any(pg_blocking_pids(${waiting}::int)) and usename = current_user
        and application_name = current_setting('application_name') and wait_event_type = 'Client'
        and state_change < now() - make_interval(secs => ${silentSeconds})`.catch(() => {});
  }
}
