/** The routes of the audit log: reading only. */

import { Type } from "@sinclair/typebox";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../actors/policy/quota.ts";
import { media } from "../../http/answer.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { type Call, defineRoute, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Audit, auditedBy } from "./port.ts";
import { exportAudit, listAudit } from "./records.ts";
import { AdminAuditFilter, AuditEntry, AuditFilter } from "./schema.ts";

const lines = "application/x-ndjson";
const responses = { 200: Type.Union([listSchema("items", AuditEntry), media(lines)]) };

export interface AuditRoutesOptions {
  readonly sql: Sql;
  readonly audit: Audit;
  /** What a tenant has, as it stands now. */
  readonly terms: (tenant: string) => Promise<Pick<TenantTerms, "tier">>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function auditRoutes(options: AuditRoutesOptions): readonly Route[] {
  const { sql } = options;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/audit",
      summary: "Who changed what in the tenant, newest first",
      scope: "audit:read",
      query: AuditFilter,
      responses,
      refusals: ["tier_not_permitted"],
      handler: async (call) => {
        if (call.query.format === "ndjson") return exported(options, call, call.tenant);
        return listAudit(sql, call.tenant, call.query, pageOf(call.query, 2));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/admin/audit",
      summary: "Who changed what in any tenant, newest first",
      scope: "audit:read",
      operatorsOnly: true,
      query: AdminAuditFilter,
      responses,
      refusals: ["tier_not_permitted"],
      handler: async (call) => {
        const tenant = call.query.tenant_id ?? null;
        if (call.query.format === "ndjson") return exported(options, call, tenant);
        return listAudit(sql, tenant, call.query, pageOf(call.query, 2));
      },
    }),
  ];
}

/**
 * The log as lines, put on record before the first of them leaves.
 * @param tenant whose entries; null: of all tenants
 * @throws Problem 403 `tier_not_permitted`
 */
async function exported(
  { sql, audit, terms, now }: AuditRoutesOptions,
  call: Call<unknown, AuditFilter>,
  tenant: string | null,
): Promise<Response> {
  const { tier } = await terms(call.tenant);
  if (tier !== "system" && tier !== "enterprise") {
    throw new Problem("tier_not_permitted", "The plan does not include exports of the audit log");
  }
  const { limit: _, offset: __, cursor: ___, format: ____, ...filter } = call.query;
  const batches = exportAudit(sql, tenant, filter, now());
  // Before the entry is written: what is wrong with the filter is told, and exports nothing.
  const first = await batches.next();
  await sql.begin((tx) =>
    audit.append(tx, auditedBy(call), {
      tenant: call.tenant,
      action: "audit.exported",
      target: { type: "tenant", id: tenant ?? "*" },
      details: { filter },
    }),
  );
  return new Response(streamed(first, batches), { headers: { "Content-Type": lines, "Cache-Control": "no-store" } });
}

type Batches = AsyncGenerator<readonly AuditEntry[]>;

/** Reads on as fast as the client takes it. */
function streamed(first: Awaited<ReturnType<Batches["next"]>>, rest: Batches): ReadableStream<Uint8Array> {
  let next: typeof first | null = first;
  return new ReadableStream(
    {
      async pull(controller) {
        const batch = next ?? (await rest.next());
        next = null;
        if (batch.done === true) controller.close();
        else controller.enqueue(Buffer.from(batch.value.map((entry) => `${JSON.stringify(entry)}\n`).join("")));
      },
      async cancel() {
        await rest.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
