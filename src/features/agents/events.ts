/** The history of each agent. */
import type { AgentEvent } from "../../../actors/agent/lifecycle.ts";
import { systemTenant } from "../../../actors/identity/identity.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

export interface AgentEvents {
  /**
   * Adds an entry in the transaction of the change it tells: either both are there or neither is.
   * Until the transaction ends, other writers of the same agent's history wait.
   * @param tenant whose the agent is after the change
   */
  note(transaction: Transaction, tenant: string, agentId: string, event: AgentEvent): Promise<void>;
}

export const agentEvents: AgentEvents = {
  async note(sql, tenant, agentId, { type, body }) {
    // The head's lock makes numbers follow one another in the order of the commits.
    await sql`
      with head as (
        insert into agent_event_heads as h (agent_id, last) values (${agentId}, 1)
        on conflict (agent_id) do update set last = h.last + 1
        returning last)
      insert into agent_events (agent_id, sequence, tenant, type, body, occurred_at)
      select ${agentId}, last, ${tenant}, ${type}, ${JSON.stringify(body)}::text::json, ${String(body.occurred_at)}::timestamptz
      from head`;
  },
};

/** Erases what happened before to agents that are no more: no stream shows it. @returns how many entries */
export async function eraseHistories(sql: Sql, before: Date, limit: number): Promise<number> {
  const [erased] = await sql<[{ count: number }]>`
    with old as (
      select agent_id, sequence from agent_events e
      where occurred_at < ${before} and not exists (select 1 from agents a where a.agent_id = e.agent_id)
      order by occurred_at limit ${limit} for update skip locked
    ), erased as (
      delete from agent_events e using old where e.agent_id = old.agent_id and e.sequence = old.sequence returning e.agent_id
    ), ended as (
      delete from agent_event_heads h using (select agent_id, count(*) as count from erased group by agent_id) gone
      where h.agent_id = gone.agent_id
        and gone.count = (select count(*) from agent_events e where e.agent_id = gone.agent_id)
    )
    select count(*)::int from erased`;
  return erased.count;
}

/**
 * A purged tenant: what counts the events of agents whose whole history was its own, and where global agents came from
 * and would return to. Repeatable; ahead of the events.
 */
export async function forgetOrigins(sql: Sql, tenant: string): Promise<void> {
  await sql`update agents set origin_tenant = null where origin_tenant = ${tenant}`;
  await sql`
    delete from agent_event_heads h
    where agent_id in (select agent_id from agent_events where tenant = ${tenant})
      and not exists (select 1 from agent_events e where e.agent_id = h.agent_id and e.tenant <> ${tenant})
      and not exists (select 1 from agents a where a.agent_id = h.agent_id and a.tenant <> ${tenant})`;
}

/** An entry of an agent's history, as a stream carries it: `{[type]: body}`. */
export interface AgentHistoryEntry {
  readonly sequence: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly entry: Json;
}

/**
 * The history of an agent as a tenant may know it: what happened while it was the tenant's own or everybody's.
 * @param after entries with a higher number, in order
 */
export async function agentHistory(
  sql: Sql,
  tenant: string,
  agentId: string,
  after: number,
  limit: number,
): Promise<AgentHistoryEntry[]> {
  const rows = await sql<{ sequence: string; type: string; body: Json; occurred_at: Date }[]>`
    select sequence, type, body, occurred_at from agent_events
    where agent_id = ${agentId} and tenant = any(${texts([tenant, systemTenant])}::text[]) and sequence > ${after}
    order by sequence limit ${limit}`;
  return rows.map(({ sequence, type, body, occurred_at }) => ({
    sequence: Number(sequence),
    at: occurred_at.getTime(),
    entry: { [type]: body },
  }));
}
