/** The SQL of storage violations, tenant first. */
import { type Static, Type } from "@sinclair/typebox";
import { AnyJson, type Json } from "../../../actors/kernel/json.ts";
import { Nullable, Text, Time } from "../../../actors/kernel/schema.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { afterObserved, type ObservedFilter, observedWhere } from "../audit/port.ts";

/** Every category with its severity (docs/reference/volumes.md). */
export const severities = {
  path_traversal_blocked: "high",
  unauthorized_volume_access: "high",
  filesystem_policy_violation: "medium",
  quota_exceeded: "medium",
} as const;
export type Category = keyof typeof severities;
const categories = Object.keys(severities) as Category[];

export const ViolationRecord = Type.Object({
  id: Text,
  type: Text,
  category: Text,
  severity: Text,
  volume_id: Nullable(Text),
  execution_id: Nullable(Text),
  tenant_id: Text,
  path: Nullable(Text),
  operation: Text,
  details: AnyJson,
  created_at: Time,
  occurred_at: Time,
});
export type ViolationRecord = Static<typeof ViolationRecord>;

/**
 * Newest first.
 * @param tenant null: of all tenants
 * @throws Problem 422 for times that are none
 */
export async function listViolations(
  sql: Sql,
  tenant: string | null,
  filter: ObservedFilter,
  page: Page,
): Promise<List<"violations", ViolationRecord>> {
  const severityIs = (severity: string) =>
    sql`category = any(${categories.filter((one) => severities[one] === severity)})`;
  const where = observedWhere(sql, tenant, filter, page, severityIs);
  if (where === null) return listOf("violations", [], page, () => []);
  const rows = await sql<Row[]>`
    select * from storage_violations where ${where}
    order by created_at desc, id desc limit ${page.limit + 1} offset ${page.offset}`;
  return listOf("violations", rows.map(shown), page, afterObserved);
}

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly category: Category;
  readonly volume_id: string | null;
  readonly execution_id: string | null;
  readonly path: string | null;
  readonly operation: string;
  readonly details: { readonly [member: string]: Json };
  readonly count: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
}

function shown({ tenant, created_at, last_seen_at, count, category, details, ...row }: Row): ViolationRecord {
  const at = created_at.toISOString();
  return {
    ...row,
    type: category,
    category,
    severity: severities[category],
    tenant_id: tenant,
    details: { ...details, count: Number(count), last_seen_at: last_seen_at.toISOString() },
    created_at: at,
    occurred_at: at,
  };
}

/** Records made since; of all tenants for null. */
export async function countViolations(sql: Sql, tenant: string | null, since: Date): Promise<number> {
  const of = tenant === null ? sql`true` : sql`tenant = ${tenant}`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from storage_violations where ${of} and created_at >= ${since}`;
  return row?.count ?? 0;
}

export interface NewViolation extends Omit<Row, "count" | "created_at" | "last_seen_at"> {
  readonly count: number;
  readonly created_at: string;
  readonly last_seen_at: string;
  /** Told again it is the same, and does not count twice. */
  readonly once: boolean;
}

/** Adds to the count of those that are there. */
export async function insertViolations(sql: Sql, rows: readonly NewViolation[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into storage_violations (id, tenant, category, volume_id, execution_id, path, operation, details, count,
      created_at, last_seen_at)
    select id, tenant, category, volume_id, execution_id, path, operation, details, count, created_at, last_seen_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as row(
      id uuid, tenant text, category text, volume_id uuid, execution_id text, path text, operation text,
      details jsonb, count bigint, created_at timestamptz, last_seen_at timestamptz, once boolean)
    where not once or not exists (select from storage_violations known where known.id = row.id)
    on conflict (id) do update set
      count = storage_violations.count + excluded.count, last_seen_at = excluded.last_seen_at`;
}
