/** Reading security incidents. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { afterObserved, type ObservedFilter, observedWhere } from "../audit/port.ts";

export const IncidentRecord = Type.Object({
  id: Text,
  type: Text,
  category: Text,
  severity: Text,
  tenant_id: Text,
  agent_id: Nullable(Text),
  execution_id: Nullable(Text),
  session_id: Nullable(Text),
  tool_name: Nullable(Text),
  violation_type: Nullable(Text),
  details: AnyJson,
  count: Type.Integer(),
  created_at: Time,
  occurred_at: Time,
  last_seen_at: Time,
});
export type IncidentRecord = Static<typeof IncidentRecord>;

/**
 * Newest first.
 * @param tenant whose incidents; null: of all tenants, for operators
 * @throws Problem 422 for times that are none
 */
export async function listIncidents(
  sql: Sql,
  tenant: string | null,
  filter: ObservedFilter,
  page: Page,
): Promise<List<"incidents", IncidentRecord>> {
  const where = observedWhere(sql, tenant, filter, page, (severity) => sql`severity = ${severity}`);
  if (where === null) return listOf("incidents", [], page, () => []);
  const rows = await sql<Row[]>`
    select * from security_incidents where ${where}
    order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
  const items = rows.map(shown);
  return listOf("incidents", items, page, afterObserved);
}

/** Records made since; of all tenants for null. */
export async function countIncidents(sql: Sql, tenant: string | null, since: Date): Promise<number> {
  const of = tenant === null ? sql`true` : sql`tenant = ${tenant}`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from security_incidents where ${of} and created_at >= ${since}`;
  return row?.count ?? 0;
}

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly category: string;
  readonly severity: string;
  readonly agent_id: string | null;
  readonly execution_id: string | null;
  readonly session_id: string | null;
  readonly tool_name: string | null;
  readonly violation_type: string | null;
  readonly details: unknown;
  readonly count: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
}

function shown({ tenant, created_at, last_seen_at, count, ...row }: Row): IncidentRecord {
  const { id, category, severity, agent_id, execution_id, session_id, tool_name, violation_type, details } = row;
  const at = created_at.toISOString();
  return {
    id,
    type: category,
    category,
    severity,
    tenant_id: tenant,
    agent_id,
    execution_id,
    session_id,
    tool_name,
    violation_type,
    details: details as IncidentRecord["details"],
    count: Number(count),
    created_at: at,
    occurred_at: at,
    last_seen_at: last_seen_at.toISOString(),
  };
}
