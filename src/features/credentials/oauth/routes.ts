/** The routes of consents: begun by callers, completed by them or by the browser that the provider sends back. */
import { Type } from "@sinclair/typebox";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { OAuthProvider } from "../../../adapters/oauth/port.ts";
import { media, reply } from "../../../http/answer.ts";
import { type AnswerSeal, IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { bodyChecker } from "../../../http/input/input.ts";
import {
  definePublicRoute,
  defineRoute,
  type Incoming,
  jsonBody,
  type RawContent,
  type Route,
  rawBody,
} from "../../../http/route.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { auditedRequest } from "../../audit/port.ts";
import type { Consents } from "./consent.ts";
import type { DeviceConsents } from "./device.ts";
import { consentPage, storedPage } from "./page.ts";
import {
  Begun,
  CallbackFields,
  CallbackQuery,
  Completed,
  DeviceBegun,
  DevicePoll,
  DeviceState,
  NewConsent,
  NewDeviceConsent,
} from "./schema.ts";

export interface ConsentRoutesOptions {
  readonly sql: Sql;
  readonly consents: Consents;
  readonly providers: ReadonlyMap<string, OAuthProvider>;
  /** Of answers that hold what is shown once. */
  readonly seal: AnswerSeal;
  /** Where a browser goes after its form; empty: to a short page. */
  readonly successUrl: string;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export interface DeviceRoutesOptions extends Pick<ConsentRoutesOptions, "sql" | "providers" | "seal" | "newId"> {
  readonly devices: DeviceConsents;
}

const base = "/v1/credentials/oauth";
const form = "application/x-www-form-urlencoded";
/** An exchange may take 40 s. */
const timeoutSeconds = 60;
const checkFields = bodyChecker(CallbackFields);

const refusals = ["invalid_state", "oauth_denied", "state_expired", "oauth_exchange_failed"] as const;

export function consentRoutes({
  sql,
  consents,
  providers,
  seal,
  successUrl,
  newId,
}: ConsentRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${base}/initiate`,
      summary: "Begin a consent: where to send the person's browser",
      scope: "credential:create",
      configured: () =>
        providers.size > 0 ? null : new Problem("provider_not_configured", "No OAuth provider is configured"),
      body: jsonBody(NewConsent),
      headers: IdempotencyHeaders,
      responses: { 200: Begun },
      refusals: ["provider_not_configured", "redirect_uri_not_allowed", "quota_exceeded", "user_identity_required"],
      handler: (call) =>
        idempotent(call, sql, async () => reply(200, await consents.begin(call, call.body)), newId, seal),
    }),
    definePublicRoute({
      method: "GET",
      path: `${base}/callback`,
      summary: "Where the provider sends a browser: a form that completes, or with a token the completion",
      timeoutSeconds,
      scope: "credential:create",
      identifies: ({ request }) => request.headers.has("authorization"),
      query: CallbackQuery,
      responses: { 200: Type.Union([Completed, media("text/html")]) },
      refusals,
      handler: async (call) => {
        if (call.caller !== null)
          return reply(200, await consents.complete(call.query, call.caller, auditedRequest(call)));
        return consentPage(await consents.show(call.query), call.query, successUrl);
      },
    }),
    definePublicRoute({
      method: "POST",
      path: `${base}/callback`,
      summary: "Complete a consent: by its user with a token, or by the form that the page shows",
      timeoutSeconds,
      scope: "credential:create",
      identifies: (incoming) => !isForm(incoming) || incoming.request.headers.has("authorization"),
      headers: IdempotencyHeaders,
      body: rawBody({ accepts: ["application/json", form], limit: 64 * 1024, schema: CallbackFields }),
      responses: { 200: Type.Union([Completed, media("text/html")]), 302: media("text/html") },
      refusals: ["validation_failed", ...refusals],
      handler: async (call) => {
        const { caller } = call;
        const fields = readFields(call.body);
        const complete = () => consents.complete(fields, caller, auditedRequest(call));
        if (caller !== null) {
          const { request, path, url, bytes, signal } = call;
          const repeatable = { ...caller, request, path, url, bytes, signal };
          return idempotent(repeatable, sql, async () => reply(200, await complete()), newId);
        }
        const { provider } = await complete();
        return successUrl === "" ? storedPage(provider) : found(successUrl);
      },
    }),
  ];
}

/** Two paths of each route, which published clients use. */
export function deviceRoutes({ sql, devices, providers, seal, newId }: DeviceRoutesOptions): readonly Route[] {
  const common = {
    method: "POST",
    tag: "credentials",
    scope: "credential:create",
    timeoutSeconds,
    configured: () =>
      providers.size > 0 ? null : new Problem("oauth_not_configured", "No OAuth provider is configured"),
  } as const;
  return ["/v1/credentials/oauth/device", "/v1/credentials/device"].flatMap((path) => [
    defineRoute({
      ...common,
      path: `${path}/initiate`,
      summary: "Begin a consent with another device",
      body: jsonBody(NewDeviceConsent),
      headers: IdempotencyHeaders,
      responses: { 200: DeviceBegun },
      refusals: ["provider_not_configured", "oauth_not_configured", "oauth_exchange_failed", "quota_exceeded"],
      handler: (call) =>
        idempotent(call, sql, async () => reply(200, await devices.begin(call, call.body)), newId, seal),
    }),
    defineRoute({
      ...common,
      path: `${path}/poll`,
      summary: "Whether a consent with another device was given; its end is told again and again",
      body: jsonBody(DevicePoll),
      headers: IdempotencyHeaders,
      responses: { 200: DeviceState },
      refusals: ["oauth_not_configured", "device_code_not_found", "oauth_exchange_failed"],
      handler: (call) => idempotent(call, sql, async () => reply(200, await devices.poll(call, call.body)), newId),
    }),
  ]);
}

const found = (location: string): Response =>
  new Response(null, { status: 302, headers: { Location: location, "Cache-Control": "no-store" } });

const isForm = ({ request }: Pick<Incoming, "request">): boolean =>
  request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() === form;

/** @throws Problem 400 for what is no JSON, 422 for anything else that is wrong */
function readFields(body: RawContent): CallbackFields {
  const text = body.text();
  return checkFields(body.mediaType === form ? Object.fromEntries(new URLSearchParams(text)) : parsed(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("malformed_body", "The body is not valid JSON");
  }
}
