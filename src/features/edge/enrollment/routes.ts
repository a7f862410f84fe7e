/** The routes of enrollment; see docs/reference/edge.md. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { media, reply } from "../../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema, pageOf } from "../../../http/paging.ts";
import { definePublicRoute, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { FailureLimit } from "../../../identity/authenticate.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Daemons } from "./daemon.ts";
import {
  EnrollBody,
  Enrolled,
  EnrollmentToken,
  IssuedToken,
  NewToken,
  RotatedKey,
  RotateKeyBody,
  TokenId,
  TokenQuery,
} from "./schema.ts";
import { enrollScope, type Tokens } from "./tokens.ts";

export interface EnrollmentRoutesOptions {
  readonly sql: Sql;
  readonly tokens: Tokens;
  readonly daemons: Daemons;
  readonly failures: FailureLimit;
  readonly seal: AnswerSeal;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function enrollmentRoutes(options: EnrollmentRoutesOptions): readonly Route[] {
  const { sql, tokens, daemons, failures, seal, newId } = options;

  /** Counts what is refused: who guesses is stopped. @throws Problem 429 `rate_limited` */
  async function counted<T>(address: string | null, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) failures.count(address ?? "");
      throw error;
    }
  }

  return [
    defineRoute({
      method: "POST",
      path: "/v1/edge/enrollment-tokens",
      summary: "Issue a token by which one daemon enrolls; its text is shown this once",
      scope: enrollScope,
      body: jsonBody(NewToken, { optional: true }),
      headers: IdempotencyHeaders,
      responses: { 200: IssuedToken },
      refusals: ["quota_exceeded", "not_a_team_admin", "colony_suspended", "decryption_failed"],
      handler: (call) =>
        idempotent(call, sql, async (id) => reply(200, await tokens.issue(call, id, call.body)), newId, seal),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/edge/enrollment-tokens",
      summary: "The tenant's enrollment tokens, newest first, without their texts",
      scope: enrollScope,
      query: TokenQuery,
      responses: { 200: listSchema("enrollment_tokens", EnrollmentToken) },
      handler: ({ tenant, query }) => tokens.list(tenant, query.status ?? null, pageOf(query, 2)),
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/edge/enrollment-tokens/:id",
      summary: "Revoke an enrollment token that no daemon has redeemed",
      scope: enrollScope,
      params: TokenId,
      responses: { 204: media() },
      refusals: ["enrollment_token_not_found", "token_redeemed"],
      handler: async (call) => {
        await tokens.revoke(call, call.params.id);
        return new Response(null, { status: 204 });
      },
    }),
    definePublicRoute({
      method: "POST",
      path: "/v1/edge/daemon/enroll",
      summary: "Enroll a daemon by a token and a proof of its key; the same again gets the same answer",
      body: jsonBody(EnrollBody, { limit: 16_384 }),
      responses: { 200: Enrolled },
      refusals: [
        "invalid_enrollment_token",
        "invalid_proof",
        "enrollment_token_expired",
        "enrollment_token_revoked",
        "token_redeemed",
        "key_in_use",
        "quota_exceeded",
        "tenant_suspended",
        "tenant_deleted",
        "colony_suspended",
        "rate_limited",
        "decryption_failed",
      ],
      handler: (call) => counted(call.address, daemons.enroll(call, call.body)),
    }),
    definePublicRoute({
      method: "POST",
      path: "/v1/edge/daemon/rotate-key",
      summary: "Give a host its next key; the first connection with it drops the former one",
      body: jsonBody(RotateKeyBody, { limit: 16_384 }),
      responses: { 200: RotatedKey },
      refusals: ["invalid_proof", "key_in_use", "rate_limited"],
      handler: (call) => counted(call.address, daemons.rotate(call, call.body)),
    }),
  ];
}
