/** Routes of every form, and an authenticator that believes one token, for tests of what every route shares. */
import { Type } from "@sinclair/typebox";
import type { Identity } from "../../actors/identity/identity.ts";
import { effectiveScopes } from "../../actors/identity/scopes.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import { eventStream, reply } from "../../src/http/answer.ts";
import { definePublicRoute, defineRoute, jsonBody, type Route, rawBody, uuidParam } from "../../src/http/route.ts";
import type { Authenticator } from "../../src/identity/authenticate.ts";
import { AskTimeout, MailboxFull, RuntimeUnavailable } from "../../src/runtime/port.ts";

export const id = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";
const readonly = { kind: "operator", role: "readonly", membership: null } as const;
const caller: Identity = {
  ...readonly,
  userId: "u",
  realm: "svc-system",
  tier: null,
  homeTenant: "svc-system",
  clientId: null,
  keyId: null,
  keyDigest: null,
  issuedAt: null,
  email: null,
  bound: null,
  scopes: effectiveScopes(readonly, [], "union"),
};

/** Says yes to `good` and keeps what happened in order; which tokens are good is tested elsewhere. */
export const authenticator: Authenticator = {
  async identify(request, queryToken) {
    const query = queryToken ? new URL(request.url).searchParams.get("token") : null;
    const header = request.headers.get("authorization") ?? (query && `Bearer ${query}`);
    if (header === null) throw new Problem("missing_authorization", "A bearer token is needed");
    if (header === "Bearer machine") return { ...caller, kind: "service_account" };
    if (header === "Bearer key") return { ...caller, keyId: id };
    if (header !== "Bearer good") throw new Problem("invalid_token", "The token is not valid");
    return caller;
  },
  async resolveTenant(identity, { headers }) {
    if (headers.get("x-tenant-id") === "Bad") throw new Problem("invalid_tenant_slug", "This is no tenant name");
    return { slug: "acme", identity, isEntered: false, create: null };
  },
};

class PostgresFailure extends Error {
  constructor(readonly code: string) {
    super("relation secret_table broke at /home/svc/x");
  }
}
const failures: Record<string, () => unknown> = {
  bug: () => new TypeError("secret detail"),
  mailbox: () => new MailboxFull(7),
  timeout: () => new AskTimeout("x"),
  leaving: () => new RuntimeUnavailable("x"),
  database: () => new PostgresFailure("57P01"),
  refused: () => new PostgresFailure("ECONNREFUSED"),
  nul: () => new PostgresFailure("22021"),
  text: () => "thrown text",
};

/** Calls that a handler was reached by, of the route with all the steps. */
export const reached = { calls: 0 };
export const routes: Route[] = [
  defineRoute({
    method: "POST",
    path: "/v1/things/:id",
    summary: "All the steps",
    scope: "agent:list",
    params: Type.Object({ id: uuidParam("invalid_agent_id", "Invalid agent ID") }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
      force: Type.Boolean({ default: false }),
      label: Type.Optional(Type.Array(Type.String())),
    }),
    body: jsonBody(
      Type.Object({
        name: Type.String({ minLength: 1 }),
        note: Type.Optional(Type.String()),
        size: Type.Optional(Type.Integer({ default: 3 })),
        mode: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
        maybe: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        nested: Type.Optional(Type.Array(Type.Object({ deep: Type.Optional(Type.Number()) }))),
      }),
    ),
    responses: { 200: Type.Unknown() },
    handler: (call) => {
      reached.calls++;
      const { params, query, body, tenant } = call;
      return { params, query, body, tenant, user: call.identity.userId, bytes: call.bytes.byteLength };
    },
  }),
  defineRoute({
    method: "GET",
    path: "/v1/things/:id",
    summary: "Reading",
    params: Type.Object({ id: uuidParam() }),
    responses: { 200: Type.Unknown() },
    handler: ({ params }) => params,
  }),
  defineRoute({
    method: "DELETE",
    path: "/v1/things/:id",
    summary: "Not for readers",
    scope: { anyOf: ["agent:delete", "agent:deploy"] },
    params: Type.Object({ id: uuidParam() }),
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/operators",
    summary: "Only for administrators",
    operatorsOnly: "admin",
    scope: "tenant:provision",
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/people",
    summary: "Only for people",
    peopleOnly: true,
    scope: "tenant:provision",
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/unconfigured",
    summary: "Without its configuration",
    configured: () => new Problem("not_configured", "There is no such thing here"),
    refusals: ["not_configured"],
    body: jsonBody(Type.Object({ name: Type.String() })),
    responses: { 200: Type.Unknown() },
    handler: () => ({}),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/optional",
    summary: "Body optional",
    body: jsonBody(Type.Object({ reason: Type.Optional(Type.String()) }), { optional: true }),
    responses: { 201: Type.Unknown() },
    handler: ({ body }) => reply(201, body, { Location: "/there" }),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/raw",
    summary: "Raw body",
    body: rawBody({ accepts: ["application/yaml", "application/json"], limit: 1000 }),
    responses: { 200: Type.Unknown() },
    handler: ({ body }) => ({ text: body.text(), type: body.mediaType }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/events",
    summary: "A stream",
    sse: true,
    responses: { 200: eventStream(Type.Unknown()) },
    handler: () => new Response("data: {}\n\n", { headers: { "Content-Type": "text/event-stream" } }),
  }),
  defineRoute({
    method: "GET",
    path: "/v1/files/:id/*",
    summary: "A wildcard",
    params: Type.Object({ id: Type.String(), "*": Type.String() }),
    responses: { 200: Type.Unknown() },
    handler: ({ params }) => params,
  }),
  definePublicRoute({
    method: "GET",
    path: "/fail/:how",
    summary: "Failing",
    params: Type.Object({ how: Type.String() }),
    responses: { 200: Type.Unknown() },
    refusals: ["validation_failed"],
    handler: ({ params }) => {
      throw failures[params.how]?.();
    },
  }),
  definePublicRoute({
    method: "POST",
    path: "/proved",
    summary: "With a proof of its own",
    prove: ({ request }) => {
      const proof = request.headers.get("x-proof");
      if (proof === null) throw new Problem("invalid_token", "The token is not valid");
      return { who: proof };
    },
    body: jsonBody(Type.Object({ a: Type.Integer() })),
    responses: { 200: Type.Unknown() },
    refusals: ["invalid_token"],
    handler: ({ proof, body }) => ({ ...proof, ...body }),
  }),
];
