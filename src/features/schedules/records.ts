/** The SQL of schedules. Agents of every tenant: schedules run without a caller. */
import type { ScheduleSpec } from "../../../actors/agent/manifest/spec.ts";
import type { Starter } from "../../../actors/identity/starter.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";

/** An active agent, of a tenant that is neither suspended nor deleted, whose current version has a schedule. */
export interface ScheduledAgent {
  readonly agent_id: string;
  readonly tenant: string;
  readonly schedule: ScheduleSpec;
  /** Of the current version; intervals are counted from here. */
  readonly deployed_at: Date;
  readonly deployed_by: string;
  /** The same with the permissions held then; null: a former version deployed it. */
  readonly deployer: Starter | null;
  /** The agent's latest change: since then the schedule is in force. */
  readonly updated_at: Date;
}

/** Agents read at once. */
const pageSize = 1000;

export function scheduleRecords(sql: Sql) {
  const columns = sql`
    a.agent_id, a.tenant, v.spec -> 'schedule' as schedule, v.deployed_at, v.deployed_by, v.deployer, a.updated_at
    from agents a join agent_versions v on v.version_id = a.current_version_id
    where v.spec ->> 'schedule' is not null and a.status = 'active' and a.deleted_at is null
      and not exists (select from tenants t where t.slug = a.tenant and t.status <> 'active')`;
  return {
    /** Of the given agents, those that are to start by themselves. */
    scheduled(agentIds: readonly string[]): Promise<ScheduledAgent[]> {
      return sql<ScheduledAgent[]>`select ${columns} and a.agent_id = any(${texts(agentIds)}::text[]::uuid[])`;
    },

    /** Those of a tenant, by id. */
    async ofTenant(tenant: string): Promise<string[]> {
      const rows = await sql<{ agent_id: string }[]>`select ${columns} and a.tenant = ${tenant} order by a.agent_id`;
      return rows.map((row) => row.agent_id);
    },

    /** All of them, by id, page by page. */
    async *everyScheduled(): AsyncGenerator<readonly ScheduledAgent[]> {
      for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
        const page = await sql<ScheduledAgent[]>`
          select ${columns} and a.agent_id > ${after}::uuid order by a.agent_id limit ${pageSize}`;
        if (page.length > 0) yield page;
        if (page.length < pageSize) return;
        after = page.at(-1)?.agent_id ?? after;
      }
    },

    /** The execution that the agent's schedule started last, and for which moment; null for none. */
    async latest(agentId: string): Promise<{ fire_at: Date; execution_id: string } | null> {
      const [row] = await sql<{ fire_at: Date; execution_id: string }[]>`
        select fire_at, execution_id from schedule_fires where agent_id = ${agentId}`;
      return row ?? null;
    },

    /**
     * Takes a moment for the agent, unless it or a later one was taken already.
     * @returns false when another node was first, or the agent is gone
     */
    async claim(agentId: string, fireAt: Date, executionId: string): Promise<boolean> {
      const rows = await sql`
        insert into schedule_fires as f (agent_id, fire_at, execution_id)
        select agent_id, ${fireAt}, ${executionId} from agents where agent_id = ${agentId}
        on conflict (agent_id) do update set fire_at = excluded.fire_at, execution_id = excluded.execution_id
        where f.fire_at < excluded.fire_at
        returning 1`;
      return rows.length > 0;
    },
  };
}
