/** The SQL of the table `stimulus_routers`. */
import { texts } from "../../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../../store/postgres/pool.ts";

export interface RouterRow {
  readonly tenant: string;
  readonly router_agent: string;
  readonly router_agent_id: string | null;
  readonly confidence_threshold: number;
  readonly timeout_seconds: number;
  readonly allowed_workflows: string[] | null;
  readonly updated_at: Date;
  readonly updated_by: { readonly kind: string; readonly sub: string };
}

export function routerRecords(sql: Sql) {
  return {
    ofTenants(tenants: readonly string[]): Promise<readonly RouterRow[]> {
      return sql<RouterRow[]>`
        select tenant, router_agent, router_agent_id, confidence_threshold, timeout_seconds, allowed_workflows,
          updated_at, updated_by
        from stimulus_routers where tenant = any(${texts(tenants)}::text[])`;
    },

    /** @param replacing whether one that is there gives way @returns whether the row is there as given */
    async put(tx: Transaction, row: RouterRow, replacing: boolean): Promise<boolean> {
      const allowed = row.allowed_workflows === null ? null : texts(row.allowed_workflows);
      const { count } = await tx`
        insert into stimulus_routers as r (tenant, router_agent, router_agent_id, confidence_threshold, timeout_seconds,
          allowed_workflows, updated_at, updated_by)
        values (${row.tenant}, ${row.router_agent}, ${row.router_agent_id}, ${row.confidence_threshold},
          ${row.timeout_seconds}, ${allowed}::text[], ${row.updated_at}, ${JSON.stringify(row.updated_by)}::text::jsonb)
        on conflict (tenant) do update set router_agent = excluded.router_agent,
          router_agent_id = excluded.router_agent_id, confidence_threshold = excluded.confidence_threshold,
          timeout_seconds = excluded.timeout_seconds, allowed_workflows = excluded.allowed_workflows,
          updated_at = excluded.updated_at, updated_by = excluded.updated_by
        where ${replacing}`;
      return count > 0;
    },

    /** @returns whether there was one */
    async remove(tx: Transaction, tenant: string): Promise<boolean> {
      const { count } = await tx`delete from stimulus_routers where tenant = ${tenant}`;
      return count > 0;
    },
  };
}
