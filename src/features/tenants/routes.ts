/** The operators' routes of tenants (docs/reference/tenants.md). */

import { reply } from "../../http/answer.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import {
  Deleted,
  NewTenant,
  Resumed,
  SlugParam,
  Suspended,
  Suspension,
  TenantBody,
  TenantChange,
  TenantsQuery,
} from "./schema.ts";
import type { TenantService } from "./service.ts";

export function tenantRoutes(tenants: TenantService): readonly Route[] {
  const tag = "tenants";
  const read = { tag, operatorsOnly: true } as const;
  const write = { tag, operatorsOnly: "admin" } as const;
  const one = { params: SlugParam } as const;
  const path = "/v1/admin/tenants";
  return [
    defineRoute({
      ...write,
      method: "POST",
      path,
      summary: "Make an enterprise tenant",
      scope: "tenant:onboard",
      body: jsonBody(NewTenant),
      responses: { 201: TenantBody },
      refusals: ["tenant_exists", "invalid_tenant_slug", "reserved_slug"],
      handler: async (call) => reply(201, await tenants.create(call, call.body)),
    }),
    defineRoute({
      ...read,
      method: "GET",
      path,
      summary: "Tenants by slug; deleted ones only where the status asks for them",
      scope: "tenant:list",
      query: TenantsQuery,
      responses: { 200: listSchema("tenants", TenantBody) },
      async handler(call) {
        const { limit: _, cursor: __, ...filter } = call.query;
        const page = pageOf(call.query, 1);
        return listOf("tenants", await tenants.list(filter, page.after?.[0] ?? "", page.limit), page, ({ slug }) => [
          slug,
        ]);
      },
    }),
    defineRoute({
      ...read,
      ...one,
      method: "GET",
      path: `${path}/:slug`,
      summary: "One tenant",
      scope: "tenant:read",
      responses: { 200: TenantBody },
      refusals: ["tenant_not_found"],
      handler: (call) => tenants.get(call.params.slug),
    }),
    defineRoute({
      ...write,
      ...one,
      method: "PATCH",
      path: `${path}/:slug`,
      summary: "Change a tenant's name, tier, quotas or future owner",
      scope: "tenant:provision",
      body: jsonBody(TenantChange),
      responses: { 200: TenantBody },
      refusals: ["tenant_not_found", "tenant_protected", "invalid_state"],
      handler: (call) => tenants.change(call, call.params.slug, call.body),
    }),
    defineRoute({
      ...write,
      ...one,
      method: "POST",
      path: `${path}/:slug/suspend`,
      summary: "Suspend a tenant: nothing new is begun, what runs finishes",
      scope: "tenant:provision",
      body: jsonBody(Suspension, { optional: true }),
      responses: { 200: Suspended },
      refusals: ["tenant_not_found", "tenant_protected", "invalid_state"],
      async handler(call) {
        await tenants.suspend(call, call.params.slug, call.body.reason ?? null);
        return { status: "suspended", slug: call.params.slug } as const;
      },
    }),
    defineRoute({
      ...write,
      ...one,
      method: "POST",
      path: `${path}/:slug/resume`,
      summary: "End a tenant's suspension: what was held goes on",
      scope: "tenant:provision",
      responses: { 200: Resumed },
      refusals: ["tenant_not_found", "invalid_state"],
      async handler(call) {
        await tenants.resume(call, call.params.slug);
        return { status: "active", slug: call.params.slug } as const;
      },
    }),
    defineRoute({
      ...write,
      ...one,
      method: "DELETE",
      path: `${path}/:slug`,
      summary: "Delete a tenant: what runs is cancelled, and all of it is erased after 30 days",
      scope: "tenant:provision",
      responses: { 200: Deleted },
      refusals: ["tenant_not_found", "tenant_protected"],
      async handler(call) {
        const { slug, purge_at } = await tenants.remove(call, call.params.slug);
        return { status: "deleted", slug, purge_at: purge_at ?? "" } as const;
      },
    }),
    defineRoute({
      ...write,
      ...one,
      method: "POST",
      path: `${path}/:slug/restore`,
      summary: "Bring a deleted tenant back; its API keys stay revoked",
      scope: "tenant:provision",
      responses: { 200: TenantBody },
      refusals: ["tenant_not_found", "tenant_purged", "invalid_state"],
      handler: (call) => tenants.restore(call, call.params.slug),
    }),
  ];
}
