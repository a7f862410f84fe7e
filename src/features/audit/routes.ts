/** The routes of the audit log: reading only. */
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres.ts";
import { listAudit } from "./records.ts";
import { AdminAuditFilter, AuditEntry, AuditFilter } from "./schema.ts";

export function auditRoutes(sql: Sql): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audit",
      summary: "Who changed what in the tenant, newest first",
      scope: "audit:read",
      query: AuditFilter,
      responses: { 200: listSchema("items", AuditEntry) },
      handler: (call) => listAudit(sql, call.tenant, call.query, pageOf(call.query, 2)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/admin/audit",
      summary: "Who changed what in any tenant, newest first",
      scope: "audit:read",
      operatorsOnly: true,
      query: AdminAuditFilter,
      responses: { 200: listSchema("items", AuditEntry) },
      handler: (call) => listAudit(sql, call.query.tenant_id ?? null, call.query, pageOf(call.query, 2)),
    }),
  ];
}
