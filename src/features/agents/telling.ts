/** Tells those who follow a tenant's records of its agents. */
import { deleted } from "../../../actors/change/change.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Changes } from "../changes/port.ts";
import type { AgentChange } from "./parts.ts";

/** Tells of an agent as it is stored now. @throws when the database does not answer */
export async function tellOfAgent(
  sql: Sql,
  changes: Pick<Changes, "changed" | "changedForAll">,
  { what, agentId: id }: Pick<AgentChange, "what" | "agentId">,
): Promise<void> {
  const [agent] = await sql<{ tenant: string; scope: string; status: string; is_deleted: boolean; last: number }[]>`
    select a.tenant, a.scope, a.status, a.deleted_at is not null as is_deleted, coalesce(h.last, 0)::float8 as last
    from agents a left join agent_event_heads h on h.agent_id = a.agent_id where a.agent_id = ${id}`;
  if (agent === undefined) return;
  const { tenant, scope, status, is_deleted, last } = agent;
  const now = { type: "agent", id, status: is_deleted ? deleted : status, rev: 2 * last + 1 } as const;
  if (scope === "global") changes.changedForAll(now);
  else {
    // Tenants that saw it until now do so no more.
    if (what === "scope_changed") changes.changedForAll({ ...now, status: deleted, rev: 2 * last });
    changes.changed(tenant, now);
  }
}
