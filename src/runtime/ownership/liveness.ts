/**
 * Which nodes have died. A lease is lost by silence, which a node that is frozen or busy keeps as well and comes back from;
 * what ends its process is blamed only for nodes that ended.
 */
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { isGone, pidScope } from "./processes.ts";

/** The silence of a node whose process cannot be looked for, or still is there, after which it has died: of its lease's time. */
const silentLeases = 3;

/**
 * Those of the nodes that have died, as far as it can be told. One whose process is not seen to have ended has died when it
 * was silent for three times the lease's time.
 * @param nodes ids; each is new with every start
 */
export async function diedOf(
  { sql, scope, ttlMs }: { readonly sql: Sql; readonly scope: string; readonly ttlMs: number },
  nodes: readonly string[],
): Promise<ReadonlySet<string>> {
  const died = new Set(nodes);
  if (died.size === 0) return died;
  const rows = await sql<{ id: string; pid: number; pid_scope: string; silent: boolean }[]>`
    select id, pid, pid_scope, heartbeat_at < now() - ${`${silentLeases * ttlMs} milliseconds`}::interval as silent
    from runtime_nodes where id = any(${texts([...died])}::text[])`;
  for (const row of rows) if (!row.silent && !isGone(row, scope)) died.delete(row.id);
  return died;
}

/**
 * The nodes that live: not those whose process is seen to have ended, nor those that were silent for three times the
 * lease's time.
 */
export async function liveNodes({
  sql,
  ttlMs,
}: {
  readonly sql: Sql;
  readonly ttlMs: number;
}): Promise<readonly string[]> {
  const rows = await sql<{ id: string; pid: number; pid_scope: string }[]>`
    select id, pid, pid_scope from runtime_nodes
    where heartbeat_at > now() - ${`${silentLeases * ttlMs} milliseconds`}::interval`;
  const scope = pidScope();
  return rows.filter((row) => !isGone(row, scope)).map(({ id }) => id);
}
