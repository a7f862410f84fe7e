/** The routes of rates: what a caller has used, and the overrides of operators. */
import { Type } from "@sinclair/typebox";
import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route, uuidParam } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { auditedBy } from "../audit/port.ts";
import {
  OverrideBody,
  OverrideDeleted,
  OverrideFilter,
  RateOverrideRecord,
  UsageFilter,
  UsageList,
  UserRates,
} from "./schema.ts";
import type { Rates } from "./service.ts";

export interface RateRoutesOptions {
  readonly rates: Rates;
  readonly sql: Sql;
  readonly newId: () => string;
}

export function rateRoutes({ rates, sql, newId }: RateRoutesOptions): readonly Route[] {
  const own = (path: string) =>
    defineRoute({
      method: "GET",
      path,
      summary: "What the caller and the tenant have used of their rates, and how much that may be",
      scope: "usage:read",
      whileSuspended: true,
      responses: { 200: UserRates },
      refusals: ["limiter_unavailable"],
      handler: async ({ tenant, identity }) => {
        const { items, ...whose } = await rates.ownUsage(tenant, identity);
        return { ...whose, buckets: items, usage: items, items, count: items.length };
      },
    });

  return [
    own("/v1/user/rate-limits"),
    own("/v1/user/rate-limits/usage"),
    defineRoute({
      method: "GET",
      path: "/v1/admin/rate-limits/overrides",
      summary: "Limits that take the place of a tier's own, newest first",
      scope: "ratelimit:read",
      operatorsOnly: true,
      query: OverrideFilter,
      responses: { 200: listSchema("overrides", RateOverrideRecord) },
      handler: ({ query }) => rates.list(query, pageOf(query, 2)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/admin/rate-limits/overrides",
      summary: "Set a limit of a tenant, of a user, or of a user in a tenant, in place of an earlier one",
      scope: "ratelimit:write",
      operatorsOnly: true,
      headers: IdempotencyHeaders,
      body: jsonBody(OverrideBody),
      responses: { 200: RateOverrideRecord },
      handler: (call) => {
        const set = async () => reply(200, await rates.set(call.body, call.tenant, auditedBy(call)));
        return idempotent(call, sql, set, newId);
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/admin/rate-limits/overrides/:id",
      summary: "Go back to what holds without this override",
      scope: "ratelimit:write",
      operatorsOnly: true,
      params: Type.Object({ id: uuidParam("invalid_id", "Invalid override ID") }),
      responses: { 200: OverrideDeleted },
      refusals: ["override_not_found"],
      handler: async (call) => {
        const { id } = call.params;
        await rates.remove(id, call.tenant, auditedBy(call));
        return { status: "deleted" as const, id };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/admin/rate-limits/usage",
      summary: "What a tenant or a user has used of the rates; without either the caller's tenant",
      scope: "ratelimit:read",
      operatorsOnly: true,
      query: UsageFilter,
      responses: { 200: UsageList },
      refusals: ["limiter_unavailable"],
      handler: async ({ query, tenant }) => {
        const items = await rates.usage(query, tenant);
        return { usage: items, items, count: items.length };
      },
    }),
  ];
}
