/** Attestation, the key set, and the routes of sessions. */
import { Type } from "@sinclair/typebox";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { reply } from "../../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listOf, listSchema, pageOf } from "../../../http/paging.ts";
import { type Call, definePublicRoute, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy, auditedRequest } from "../../audit/port.ts";
import type { PublicKey } from "../../encryption/port.ts";
import { carriesToken, type ExecutionIdentity, type ExecutionTokens, identify } from "../../execution-tokens/port.ts";
import type { Incidents } from "../../incidents/port.ts";
import { attestationRefusal, refusalResponse } from "../refusal.ts";
import type { Attestation, Opener } from "./attestation.ts";
import {
  AttestationBody,
  AttestBody,
  FoundSessionBody,
  OpenedSessionBody,
  OpenSessionBody,
  RevokeBody,
  RevokedBody,
  RevokeQuery,
  SessionBody,
  SessionQuery,
} from "./schema.ts";
import { type SessionService, sessionBody } from "./service.ts";

export interface SessionRoutesOptions {
  readonly sql: Sql;
  readonly tokens: Pick<ExecutionTokens, "verify">;
  readonly attestation: Attestation;
  readonly sessions: SessionService;
  readonly audit: Pick<Audit, "append" | "record">;
  readonly incidents: Pick<Incidents, "report">;
  readonly published: () => Promise<readonly PublicKey[]>;
  /** Keeps answers that hold a token. */
  readonly seal: AnswerSeal;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Unix ms. */
  readonly now: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

const attestRefusals = [
  "malformed_body",
  "invalid_token",
  "workload_not_verified",
  "execution_not_yours",
  "agent_mismatch",
  "tenant_mismatch",
  "tenant_suspended",
  "tenant_deleted",
  "security_context_forbidden",
  "security_context_not_found",
  "execution_not_found",
  "execution_not_running",
  "invalid_public_key",
  "rate_limited",
  "decryption_failed",
] as const;

const keySetSeconds = 300;

export function sessionRoutes(options: SessionRoutesOptions) {
  const { sql, attestation, sessions, audit, info, newId } = options;
  const refusing = (problem: Parameters<typeof attestationRefusal>[0], requestId: string): Response =>
    refusalResponse(attestationRefusal(problem), requestId, null, options.now());

  const openerOf = (
    call: Pick<Call, "identity" | "tenant"> & AuditedCall,
    action: string,
    claimed: object,
  ): Opener => ({
    identity: call.identity,
    tenant: call.tenant,
    record: (tx, session) =>
      audit.append(tx, auditedBy(call), {
        tenant: call.tenant,
        action,
        target: { type: "seal_session", id: session.session_id },
        details: {
          execution_id: session.execution_id,
          security_context: session.security_context,
          ...claimed,
        },
      }),
  });

  function noteOpened(session: AttestationBody, by: "instance" | "caller"): AttestationBody {
    const { tenant_id: tenant, session_id, execution_id } = session;
    info("seal_attestation_completed", { tenant, session_id, execution_id, by });
    info("seal_session_created", { tenant, session_id, execution_id });
    return session;
  }

  const common = {
    method: "POST",
    path: "/v1/seal/attest",
    summary: "Tie a public key to an execution or to the caller, for signed tool calls",
    tag: "seal",
    body: jsonBody(AttestBody),
    responses: { 200: AttestationBody },
    refusals: attestRefusals,
    refusing,
  } as const;

  /** A refusal for the sake of security is an incident of the tenant. */
  async function attesting(
    tenant: string,
    executionId: string | null,
    work: Promise<AttestationBody>,
    by: "instance" | "caller",
  ): Promise<AttestationBody> {
    try {
      return noteOpened(await work, by);
    } catch (error) {
      if (error instanceof Problem && (error.status === 401 || error.status === 403)) {
        options.incidents.report({
          category: "attestation_refused",
          tenant,
          agentId: null,
          executionId,
          ...{ sessionId: null, toolName: null, violationType: null },
          details: { code: error.code },
        });
      }
      throw error;
    }
  }

  function byCaller(call: Pick<Call<unknown, unknown, AttestBody>, "body" | "identity" | "tenant"> & AuditedCall) {
    const opener = openerOf(call, "seal_session.attested", claimsOf(call.body));
    return attesting(call.tenant, null, attestation.ofCaller(opener, call.body), "caller");
  }

  const attest = defineRoute({ ...common, scope: "agent:execute", handler: (call) => byCaller(call) });

  /** Sandboxes attest by their execution token, others as everywhere. */
  const attestInside = definePublicRoute({
    ...common,
    prove: ({ request }): Promise<ExecutionIdentity | null> =>
      carriesToken(request) ? identify(options.tokens, { request }, true) : Promise.resolve(null),
    identifies: ({ request }) => !carriesToken(request),
    scope: "agent:execute",
    async handler(call) {
      if (call.proof === null) return byCaller({ ...picked(call), ...required(call.caller) });
      const { tenant, executionId } = call.proof;
      const work = attestation.ofInstance(call.proof, call.body);
      const session = await attesting(tenant, executionId, work, "instance");
      const { claimed } = claimsOf(call.body);
      if (Object.keys(claimed).length > 0) {
        const actor = { kind: "agent", realm: null, user_id: session.agent_id, role: null, key_id: null, name: null };
        await audit.record(
          sql,
          { actor, ...auditedRequest(call) },
          {
            tenant: session.tenant_id,
            action: "seal_session.attested",
            target: { type: "seal_session", id: session.session_id },
            details: { execution_id: session.execution_id, claimed },
          },
        );
      }
      return session;
    },
  });

  const keySet = definePublicRoute({
    method: "GET",
    path: "/.well-known/jwks.json",
    summary: "The keys that security tokens, execution tokens and enrollment tokens are signed with",
    tag: "seal",
    responses: {
      200: Type.Object({
        keys: Type.Array(
          Type.Object({
            kty: Type.Literal("OKP"),
            crv: Type.Literal("Ed25519"),
            x: Type.String(),
            kid: Type.String(),
            use: Type.Literal("sig"),
            alg: Type.Literal("EdDSA"),
          }),
        ),
      }),
    },
    refusals: ["decryption_failed"],
    handler: async () =>
      reply(200, { keys: [...(await options.published())] }, { "Cache-Control": `public, max-age=${keySetSeconds}` }),
  });

  const SessionId = Type.Object({ id: Type.String({ maxLength: 64, description: "A session's or an execution's" }) });
  const ofSessions: readonly Route[] = [
    defineRoute({
      method: "GET",
      path: "/v1/seal/sessions",
      summary: "The tenant's sessions, newest first",
      scope: "seal:read",
      query: SessionQuery,
      responses: { 200: listSchema("sessions", SessionBody) },
      handler: async (call) => {
        const page = pageOf(call.query, 2);
        const rows = (await sessions.list(call.tenant, call.query, page)).map(sessionBody);
        return listOf("sessions", rows, page, (row) => [String(Date.parse(row.created_at)), row.session_id]);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/seal/sessions",
      summary: "Open a session of an execution for a key that the caller brings",
      scope: "seal:manage",
      body: jsonBody(OpenSessionBody),
      headers: IdempotencyHeaders,
      responses: { 201: OpenedSessionBody },
      refusals: attestRefusals,
      handler: (call) =>
        idempotent(
          call,
          sql,
          async () => {
            const opener = openerOf(call, "seal_session.opened", {});
            const session = noteOpened(await sessions.open(opener, call.body), "caller");
            return reply(201, { ...session, session_status: "active" } as const);
          },
          newId,
          options.seal,
        ),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/seal/sessions/:id",
      summary: "The newest session that an id names, with the others",
      scope: "seal:read",
      params: SessionId,
      responses: { 200: FoundSessionBody },
      refusals: ["session_not_found"],
      handler: async (call) => {
        const rows = (await sessions.find(call.tenant, call.params.id)).map(sessionBody);
        const [newest] = rows;
        if (newest === undefined) throw new Error("unreachable: there is one at least");
        return { ...newest, sessions: rows };
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/seal/sessions/:id",
      summary: "End the sessions that an id names",
      scope: "seal:manage",
      params: SessionId,
      query: RevokeQuery,
      body: jsonBody(RevokeBody, { optional: true }),
      responses: { 200: RevokedBody },
      refusals: ["session_not_found"],
      handler: (call) => sessions.revoke(call, call.params.id, call.body.reason ?? call.query.reason ?? null),
    }),
  ];

  return { routes: [attest, keySet, ...ofSessions], internalRoutes: [attestInside, keySet] };
}

/** What a request says of itself without effect. */
function claimsOf({ principal_subject, user_id, zaru_tier }: AttestBody): { readonly claimed: Record<string, string> } {
  const claims = { principal_subject, user_id, zaru_tier };
  const given = Object.entries(claims).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  return { claimed: Object.fromEntries(given) };
}

function required<T>(caller: T | null): T {
  if (caller === null) throw new Error("unreachable: who has no execution token was identified");
  return caller;
}

const picked = <B>({ request, requestId, address, body }: Omit<AuditedCall, "identity"> & { readonly body: B }) => ({
  request,
  requestId,
  address,
  body,
});
