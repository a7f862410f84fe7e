/** Reading the audit log. */
import type { Fragment } from "postgres";
import { readTime } from "../../../actors/kernel/time.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres.ts";
import type { AuditEntry, AuditFilter } from "./schema.ts";

/**
 * Newest first.
 * @param tenant whose entries; null: of all tenants, for operators
 * @throws Problem 422 for times that are none
 */
export async function listAudit(
  sql: Sql,
  tenant: string | null,
  filter: AuditFilter,
  page: Page,
): Promise<List<"items", AuditEntry>> {
  const conditions = [sql`true`, ...wanted(sql, tenant, filter)];
  const [position = "", id = ""] = page.after ?? [];
  if (page.after !== null) {
    // A cursor that was tampered with finds nothing.
    if (!/^\d{1,14}$/.test(position) || !isUuid(id)) return listOf("items", [], page, () => []);
    conditions.push(sql`(at, id) < (${new Date(Number(position))}, ${id}::uuid)`);
  }
  const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
  const rows = await sql<Row[]>`
    select * from audit_entries where ${where}
    order by at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
  return listOf("items", rows.map(shown), page, (entry) => [String(Date.parse(entry.at)), entry.id]);
}

function wanted(sql: Sql, tenant: string | null, filter: AuditFilter): Fragment[] {
  const { actor, action, target_type, target_id, outcome, since, until } = filter;
  const conditions: Fragment[] = [];
  if (tenant !== null) conditions.push(sql`tenant = ${tenant}`);
  if (actor !== undefined) {
    conditions.push(sql`${actor} in (actor ->> 'user_id', actor ->> 'key_id', actor ->> 'name')`);
  }
  if (action !== undefined) conditions.push(sql`starts_with(action, ${action})`);
  if (target_type !== undefined) conditions.push(sql`target_type = ${target_type}`);
  if (target_id !== undefined) conditions.push(sql`target_id = ${target_id}`);
  if (outcome !== undefined) conditions.push(sql`outcome = ${outcome}`);
  if (since !== undefined) conditions.push(sql`at >= ${readTime("since", since)}`);
  if (until !== undefined) conditions.push(sql`at <= ${readTime("until", until)}`);
  return conditions;
}

interface Row extends Pick<AuditEntry, "id" | "actor" | "action" | "outcome" | "ip" | "user_agent" | "request_id"> {
  readonly at: Date;
  readonly tenant: string;
  readonly target_type: string;
  readonly target_id: string;
  readonly details: AuditEntry["details"];
}

function shown(row: Row): AuditEntry {
  const { kind, user_id, role, key_id, name } = row.actor;
  return {
    id: row.id,
    at: row.at.toISOString(),
    tenant_id: row.tenant,
    actor: { kind, user_id, role, key_id, name },
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    outcome: row.outcome,
    ip: row.ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    details: row.details,
  };
}
