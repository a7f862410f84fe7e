/** Reading the audit log. */
import type { Fragment } from "postgres";
import { readTime } from "../../../actors/kernel/time.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
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

/** Entries read at once by an export. */
const exportedAtOnce = 500;

/**
 * Every entry that the filter leaves, oldest first, in batches; those that come later are not among them.
 * @param until Unix milliseconds
 * @throws Problem 422 for times that are none
 */
export async function* exportAudit(
  sql: Sql,
  tenant: string | null,
  filter: AuditFilter,
  until: number,
): AsyncGenerator<readonly AuditEntry[]> {
  const conditions = [sql`at <= ${new Date(until)}`, ...wanted(sql, tenant, filter)];
  const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
  // The place as PostgreSQL has it: a `Date` would cut the microseconds off.
  for (let last: (Row & { readonly place: string }) | undefined; ; ) {
    const from = last === undefined ? sql`true` : sql`(at, id) > (${last.place}::text::timestamptz, ${last.id}::uuid)`;
    const rows = await sql<(Row & { readonly place: string })[]>`
      select *, at::text as place from audit_entries where ${where} and ${from} order by at, id limit ${exportedAtOnce}`;
    last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(shown);
    if (rows.length < exportedAtOnce) return;
  }
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
  // Entries of earlier versions have no realm.
  const { kind, realm = null, user_id, role, key_id, name } = row.actor;
  return {
    id: row.id,
    at: row.at.toISOString(),
    tenant_id: row.tenant,
    actor: { kind, realm, user_id, role, key_id, name },
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    outcome: row.outcome,
    ip: row.ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    details: row.details,
  };
}
