/** The wire shapes of attestations and sessions. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../../http/paging.ts";

const exampleKey = "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";
const given = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }));

export const AttestBody = Type.Object(
  {
    agent_public_key: given(4096, "Ed25519: 32 bytes in base64 or base64url, SPKI in base64 (DER) or in PEM"),
    public_key: given(4096, "The same as agent_public_key"),
    public_key_pem: given(4096, "The same as agent_public_key"),
    agent_id: given(64, "UUID, with execution_id; of a sandbox its own, where it is given"),
    execution_id: given(64, "UUID, with agent_id"),
    container_id: given(256, "Id, beginning of the id, name or host name of a running sandbox of the execution"),
    workload_id: given(256, "The same, or a label that proves nothing"),
    security_context: given(
      256,
      "The execution's own where there is one; of others the usual one of the caller when absent",
    ),
    tenant_id: given(256, "The effective tenant"),
    task_summary: given(65_536, "Cut to 256 bytes, and kept in the token"),
    principal_subject: given(512, "Recorded as claimed, without effect"),
    user_id: given(512, "Recorded as claimed, without effect"),
    zaru_tier: given(64, "Recorded as claimed, without effect"),
  },
  { examples: [{ agent_public_key: exampleKey, task_summary: "Files tickets for the night shift" }] },
);
export type AttestBody = Static<typeof AttestBody>;

export const AttestationBody = Type.Object({
  status: Type.Literal("success"),
  protocol: Type.Literal("seal/v1"),
  security_token: Type.String({ description: "A JWT that the key set at /.well-known/jwks.json verifies" }),
  session_id: Type.String(),
  expires_at: Time,
  execution_id: Type.String(),
  agent_id: Type.String(),
  tenant_id: Type.String(),
  security_context: Type.String(),
});
export type AttestationBody = Static<typeof AttestationBody>;

export const OpenSessionBody = Type.Object(
  {
    execution_id: Type.String({ format: "uuid" }),
    public_key_b64: Type.String({
      maxLength: 4096,
      description: "As agent_public_key of an attestation, or 64 hex digits",
    }),
    security_context_name: given(256, "The execution's own"),
    sub: given(64, "The agent's id, where it is given"),
    allowed_tool_patterns: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
          maxItems: 200,
          description: "Narrows the security context: `*`, `prefix.*` or a tool's name",
        }),
      ),
    ),
  },
  {
    examples: [
      {
        execution_id: "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11",
        public_key_b64: exampleKey,
        allowed_tool_patterns: ["fs.*"],
      },
    ],
  },
);
export type OpenSessionBody = Static<typeof OpenSessionBody>;

export const OpenedSessionBody = Type.Composite([
  AttestationBody,
  Type.Object({ session_status: Type.Literal("active") }),
]);

const StatusWord = Type.Union([Type.Literal("active"), Type.Literal("expired"), Type.Literal("revoked")]);

export const SessionBody = Type.Object({
  session_id: Type.String(),
  execution_id: Type.String(),
  agent_id: Type.String(),
  tenant_id: Type.String(),
  security_context: Type.String(),
  allowed_tool_patterns: Nullable(Type.Array(Type.String())),
  public_key_fingerprint: Type.String({ description: "SHA-256 of the 32 bytes, in hex" }),
  container_id: Nullable(Type.String()),
  workload_id: Nullable(Type.String()),
  instance_id: Nullable(Type.String({ description: "Of the sandbox instance that opened it, and with which it ends" })),
  status: StatusWord,
  session_status: StatusWord,
  revoked_reason: Nullable(Type.String()),
  detached: Type.Boolean(),
  opened_by: Nullable(
    Type.Object(
      { kind: Type.String(), user_id: Type.String(), key_id: Nullable(Type.String()) },
      { description: "Null: a sandbox opened it for its execution" },
    ),
  ),
  calls: Type.Integer(),
  created_at: Time,
  last_used_at: Nullable(Time),
  expires_at: Time,
  revoked_at: Nullable(Time),
});
export type SessionBody = Static<typeof SessionBody>;

export const FoundSessionBody = Type.Composite([SessionBody, Type.Object({ sessions: Type.Array(SessionBody) })]);

export const SessionQuery = Type.Object({
  ...pagingQuery,
  execution_id: Type.Optional(Type.String({ maxLength: 64 })),
  status: Type.Optional(StatusWord),
});

export const RevokeQuery = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 512 })) });
export const RevokeBody = Type.Object({ reason: Type.Optional(Type.String({ maxLength: 512 })) });

export const RevokedBody = Type.Object({
  status: Type.Literal("success"),
  execution_id: Type.String(),
  session_ids: Type.Array(Type.String()),
  session_status: Type.Literal("revoked"),
  revoked_at: Time,
});
export type RevokedBody = Static<typeof RevokedBody>;

/** Refusals of attestations and signed calls, each of them in this shape. */
export const SealRefusalBody = Type.Object({
  protocol: Type.Literal("seal/v1"),
  status: Type.Literal("error"),
  code: Type.String(),
  error_code: Type.Integer(),
  message: Type.String(),
  request_id: Type.String(),
  error: Type.Object({
    code: Type.Integer(),
    name: Type.String(),
    message: Type.String(),
    timestamp: Time,
    request_id: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
  }),
  payload: Type.Optional(
    Type.Object({
      jsonrpc: Type.Literal("2.0"),
      id: Type.Union([Type.String(), Type.Number()]),
      error: Type.Object({
        code: Type.Integer(),
        message: Type.String(),
        data: Type.Record(Type.String(), Type.Unknown()),
      }),
    }),
  ),
});
export type SealRefusalBody = Static<typeof SealRefusalBody>;
