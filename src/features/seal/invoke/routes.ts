/** The routes of signed calls: one under two paths, on both listeners. */
import { Type } from "@sinclair/typebox";
import { AnyJson } from "../../../../actors/kernel/json.ts";
import { media } from "../../../http/answer.ts";
import { IdempotencyHeaders } from "../../../http/idempotency.ts";
import { definePublicRoute, type Refusing, type Route, rawBody } from "../../../http/route.ts";
import type { InvokeRequest } from "./invoke.ts";

/** A signed call. */
export const EnvelopeBody = Type.Object(
  {
    protocol: Type.Literal("seal/v1"),
    security_token: Type.String({ description: "Of the attestation" }),
    signature: Type.String({ description: "base64 of the 64 bytes of an Ed25519 signature over the signed bytes" }),
    payload: Type.Object({
      jsonrpc: Type.Literal("2.0"),
      id: Type.Union([Type.String(), Type.Integer()]),
      method: Type.String({ description: "tools/call, tools/list, ping, or the name of a tool" }),
      params: Type.Optional(Type.Object({}, { additionalProperties: true })),
    }),
    timestamp: Type.Union([Type.String({ description: "RFC 3339" }), Type.Integer({ description: "Unix seconds" })]),
  },
  {
    examples: [
      {
        protocol: "seal/v1",
        security_token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhZ2VudCJ9.c2lnbmF0dXJl",
        signature: "sAI2TISDXQ/ZO1NJ/kWCt9Z7X9cDtGEHIYbfafq6WRNNe/7KqzXg7KvrknX3MWFjjFvs8ohvRErEgzfcrsYwCw==",
        payload: {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "fs.read", arguments: { path: "notes.md" } },
        },
        timestamp: "2031-05-02T06:00:09.120Z",
      },
    ],
  },
);

const RpcResult = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Union([Type.String(), Type.Number()]),
  result: Type.Record(Type.String(), AnyJson),
});

/** What a signed call answered. */
export const InvokedBody = Type.Object({
  protocol: Type.Literal("seal/v1"),
  status: Type.Literal("success"),
  ...RpcResult.properties,
  payload: RpcResult,
});

export interface InvokeRoutesOptions {
  readonly invoke: (request: InvokeRequest) => Promise<Response>;
  readonly refusing: Refusing;
  /** SVC_SEAL_MAX_BODY_BYTES */
  readonly maxBodyBytes: number;
}

export function invokeRoutes({ invoke, refusing, maxBodyBytes }: InvokeRoutesOptions): readonly Route[] {
  return ["/v1/seal/invoke", "/v1/invoke"].map((path) =>
    definePublicRoute({
      method: "POST",
      path,
      summary: "Call a tool by a signed envelope",
      tag: "seal",
      headers: IdempotencyHeaders,
      body: rawBody({ accepts: ["application/json"], limit: maxBodyBytes, schema: EnvelopeBody }),
      responses: { 200: Type.Union([InvokedBody, media("application/json")]), 202: InvokedBody },
      refusals: ["invalid_token", "token_expired", "session_not_found", "rate_limited", "service_unavailable"],
      timeoutSeconds: 240,
      refusing,
      handler: ({ request, requestId, url, signal, body }) =>
        invoke({ request, requestId, url, signal, bytes: body.bytes }),
    }),
  );
}
