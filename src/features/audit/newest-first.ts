/** Lists of what was observed (incidents, violations): the newest first, with the filters that they share. */
import { type Static, Type } from "@sinclair/typebox";
import type { Fragment } from "postgres";
import { readTime } from "../../../actors/kernel/time.ts";
import { type Page, pagingQuery } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { allTenantsQuery } from "./all-tenants.ts";

const Word = Type.Optional(Type.String({ maxLength: 100 }));
/** The query of such a list. */
export const ObservedFilter = Type.Object({
  ...pagingQuery,
  ...allTenantsQuery,
  category: Word,
  type: Type.Optional(Type.String({ maxLength: 100, description: "The same as category" })),
  severity: Word,
  execution_id: Word,
  since: Type.Optional(Type.String({ maxLength: 64 })),
  until: Type.Optional(Type.String({ maxLength: 64 })),
});
export type ObservedFilter = Omit<Static<typeof ObservedFilter>, keyof typeof allTenantsQuery>;

/**
 * The rows that a page begins with: of a table with `tenant`, `category`, `execution_id`, `created_at` and `id`.
 * @param tenant null: of all tenants
 * @param severityIs how a row tells its severity
 * @returns null where the cursor was tampered with, which finds nothing
 * @throws Problem 422 for times that are none
 */
export function observedWhere(
  sql: Sql,
  tenant: string | null,
  filter: ObservedFilter,
  page: Page,
  severityIs: (severity: string) => Fragment,
): Fragment | null {
  const conditions: Fragment[] = [tenant === null ? sql`true` : sql`tenant = ${tenant}`];
  const { severity, execution_id } = filter;
  const category = filter.category ?? filter.type;
  if (category !== undefined) conditions.push(sql`category = ${category}`);
  if (severity !== undefined) conditions.push(severityIs(severity));
  if (execution_id !== undefined) conditions.push(sql`execution_id = ${execution_id}`);
  if (filter.since !== undefined) conditions.push(sql`created_at >= ${readTime("since", filter.since)}`);
  if (filter.until !== undefined) conditions.push(sql`created_at <= ${readTime("until", filter.until)}`);
  const [position = "", id = ""] = page.after ?? [];
  if (page.after !== null) {
    if (!/^\d{1,14}$/.test(position) || !isUuid(id)) return null;
    conditions.push(sql`(created_at, id) < (to_timestamp(${position}::bigint / 1000.0), ${id}::uuid)`);
  }
  return conditions.reduce((all, one) => sql`${all} and ${one}`);
}

/** Where the page behind an item begins. */
export const afterObserved = (item: { readonly created_at: string; readonly id: string }): string[] => [
  String(Date.parse(item.created_at)),
  item.id,
];
