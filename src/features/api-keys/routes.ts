/** The routes of API keys; see docs/reference/identity.md. */
import { Type } from "@sinclair/typebox";
import { reply } from "../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import {
  ApiKeyBody,
  CreateBody,
  KeyId,
  ListQuery,
  NewApiKeyBody,
  RevokedBody,
  RotateBody,
  ValidBody,
} from "./schema.ts";
import type { ApiKeys } from "./service.ts";

export interface ApiKeyRoutesOptions {
  readonly sql: Sql;
  readonly apiKeys: ApiKeys;
  readonly tenants: Pick<Tenants, "find">;
  readonly seal: AnswerSeal;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function apiKeyRoutes({ sql, apiKeys, tenants, seal, newId }: ApiKeyRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/api-keys",
      summary: "The caller's API keys in the tenant, oldest first",
      scope: "key:list",
      whileSuspended: true,
      query: ListQuery,
      responses: {
        200: Type.Composite([listSchema("api_keys", ApiKeyBody), Type.Object({ keys: Type.Array(ApiKeyBody) })]),
      },
      refusals: ["owner_only"],
      handler: async (call) => {
        const page = pageOf(call.query, 1);
        const keys = await apiKeys.list(call, call.query.status ?? null, call.query.all ?? false, page);
        const list = listOf("api_keys", keys, page, ({ id }) => [id]);
        return { ...list, keys: list.items };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/api-keys",
      summary: "Make an API key; its value is shown this once",
      scope: "key:create",
      body: jsonBody(CreateBody),
      headers: IdempotencyHeaders,
      responses: { 201: NewApiKeyBody },
      refusals: ["quota_exceeded", "unknown_scope", "scope_not_grantable", "operator_required", "decryption_failed"],
      handler: (call) =>
        idempotent(call, sql, async (id) => reply(201, await apiKeys.create(call, id, call.body)), newId, seal),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/api-keys/validate",
      summary: "Whom the API key of this request speaks for, and what it opens",
      responses: { 200: ValidBody },
      refusals: ["invalid_api_key"],
      handler: async (call) => {
        const { identity, tenant } = call;
        const key = await apiKeys.current(call);
        const tier = (await tenants.find(tenant))?.standing.tier ?? "free";
        return {
          user_id: identity.userId,
          tenant_id: tenant,
          role: identity.role,
          aegis_role: identity.role,
          scopes: [...identity.scopes].sort(),
          tier,
          zaru_tier: tier,
          kind: identity.kind,
          key_id: key.id,
          expires_at: key.expires_at?.toISOString() ?? null,
        };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/api-keys/:id",
      summary: "One API key",
      scope: "key:read",
      params: KeyId,
      responses: { 200: ApiKeyBody },
      refusals: ["api_key_not_found"],
      handler: (call) => apiKeys.find(call, call.params.id),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/api-keys/:id/rotate",
      summary: "Give an API key another value; the former one holds for the grace",
      scope: "key:create",
      params: KeyId,
      body: jsonBody(RotateBody, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 200: NewApiKeyBody },
      refusals: ["api_key_not_found", "scope_not_grantable", "decryption_failed"],
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (workId) => reply(200, await apiKeys.rotate(call, call.params.id, workId, call.body)),
          newId,
          seal,
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/api-keys/:id",
      summary: "End an API key, with those that were made with it",
      scope: "key:revoke",
      whileSuspended: true,
      params: KeyId,
      responses: { 200: RevokedBody },
      refusals: ["api_key_not_found"],
      handler: async (call) => {
        await apiKeys.revoke(call, call.params.id);
        return { status: "revoked", id: call.params.id, message: "The key opens nothing any more" };
      },
    }),
  ];
}
