/** The routes of credentials and their grants; see docs/reference/credentials.md. */

import { reply } from "../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../http/idempotency.ts";
import { listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, jsonBody, type Route } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { type Encryption, withoutDigest } from "../encryption/port.ts";
import type { GrantService } from "./grants.ts";
import {
  Credential,
  CredentialDetail,
  CredentialFilter,
  CredentialId,
  Grant,
  GrantId,
  GrantList,
  NewApiKey,
  NewGrant,
  RevokedCredential,
  RevokedGrant,
  RotatedCredential,
  Rotation,
} from "./schema.ts";
import type { Caller, CredentialService } from "./service.ts";
import { credentialBody } from "./wire.ts";

export interface CredentialRoutesOptions {
  readonly sql: Sql;
  readonly credentials: CredentialService;
  /** In place of a value of the caller's, for tokens. */
  readonly rotate: (caller: Caller, id: string, body: Rotation) => Promise<Credential>;
  readonly grants: GrantService;
  readonly encryption: Pick<Encryption, "fingerprint">;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const base = "/v1/credentials";

export function credentialRoutes(options: CredentialRoutesOptions): Route[] {
  const { sql, credentials, rotate, grants, encryption, newId } = options;
  /** Two paths of one route, which published clients use. */
  const create = (path: string) =>
    defineRoute({
      method: "POST",
      path,
      summary: "Store a credential of a known value, such as an API key",
      scope: "credential:create",
      body: jsonBody(NewApiKey),
      headers: IdempotencyHeaders,
      responses: { 201: Credential },
      refusals: ["quota_exceeded", "user_identity_required"],
      handler: (call) =>
        idempotent(
          withoutDigest(call, encryption),
          sql,
          async (id) => reply(201, await credentials.createKey(call, id, call.body)),
          newId,
        ),
    });
  return [
    defineRoute({
      method: "GET",
      path: base,
      summary: "The credentials the caller sees, oldest first; revoked ones only where asked for",
      scope: "credential:list",
      query: CredentialFilter,
      responses: { 200: listSchema("credentials", Credential) },
      handler: (call) => credentials.list(call, call.query, pageOf(call.query, 2)),
    }),
    create(`${base}/api-keys`),
    create(`${base}/api-key`),
    defineRoute({
      method: "GET",
      path: `${base}/:id`,
      summary: "One credential, never its value",
      scope: "credential:read",
      params: CredentialId,
      responses: { 200: CredentialDetail },
      refusals: ["credential_not_found"],
      handler: async (call) => {
        const credential = credentialBody(await credentials.find(call, call.params.id));
        return { ...credential, credential };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: `${base}/:id`,
      summary: "Revoke a credential: its value is erased, its grants end",
      scope: "credential:delete",
      whileSuspended: true,
      params: CredentialId,
      responses: { 200: RevokedCredential },
      refusals: ["credential_not_found", "not_credential_owner"],
      handler: async (call) => {
        await credentials.revoke(call, call.params.id);
        return { status: "revoked", id: call.params.id };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${base}/:id/rotate`,
      summary: "Replace the value; OAuth tokens are refreshed",
      scope: "credential:rotate",
      params: CredentialId,
      body: jsonBody(Rotation, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 200: RotatedCredential },
      refusals: [
        "credential_not_found",
        "not_credential_owner",
        "credential_revoked",
        "invalid_state",
        "oauth_exchange_failed",
      ],
      timeoutSeconds: 120,
      handler: (call) =>
        idempotent(
          withoutDigest(call, encryption),
          sql,
          async () => {
            const rotated = await rotate(call, call.params.id, call.body);
            return reply(200, { ...rotated, status: "active" as const, rotated: true as const });
          },
          newId,
        ),
    }),
    ...grantRoutes({ sql, grants, newId }),
  ];
}

function grantRoutes({ sql, grants, newId }: Pick<CredentialRoutesOptions, "sql" | "grants" | "newId">): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: `${base}/:id/grants`,
      summary: "What may use a credential, oldest first",
      scope: "credential:read",
      params: CredentialId,
      responses: { 200: GrantList },
      refusals: ["credential_not_found"],
      handler: async (call) => {
        const items = await grants.list(call, call.params.id);
        return { grants: items, items, count: items.length };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${base}/:id/grants`,
      summary: "Let an agent, a workflow or all agents use a credential",
      scope: "credential:grant",
      params: CredentialId,
      body: jsonBody(NewGrant),
      headers: IdempotencyHeaders,
      responses: { 200: Grant, 201: Grant },
      refusals: [
        "credential_not_found",
        "agent_not_found",
        "workflow_not_found",
        "not_credential_owner",
        "credential_revoked",
        "quota_exceeded",
      ],
      handler: (call) =>
        idempotent(
          call,
          sql,
          async (grantId) => {
            const { grant, isNew } = await grants.grant(call, call.params.id, grantId, call.body);
            return isNew ? reply(201, grant) : reply(200, grant);
          },
          newId,
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: `${base}/:id/grants/:grant_id`,
      summary: "End a grant",
      scope: "credential:grant",
      whileSuspended: true,
      params: GrantId,
      responses: { 200: RevokedGrant },
      refusals: ["credential_not_found", "not_found", "not_credential_owner"],
      handler: async (call) => {
        await grants.end(call, call.params.id, call.params.grant_id);
        return { status: "revoked", grant_id: call.params.grant_id };
      },
    }),
  ];
}
