/** Calls that were under way on a node that tells nothing more of them. */
import type { Fragment } from "postgres";
import type { Sql } from "../../store/postgres/pool.ts";
import { usedCalls } from "./statements.ts";

/**
 * Puts down as interrupted what still runs: whether it took effect is not known, and it counts as used.
 * @param which a condition on `tool_invocations`, with that name in front of its columns where they are not its own
 * @returns how many these were
 */
export async function interruptCalls(sql: Sql, which: Fragment): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with changed as (
      update tool_invocations set outcome = 'interrupted', code = 'interrupted', ended_at = now()
      where ${which} and outcome = 'running' and ended_at is null
      returning id, tenant, agent_id, workflow_name, tool_name, true as ran),
    used as (${sql.unsafe(usedCalls)})
    select count(*)::int as count from changed`;
  return row.count;
}
