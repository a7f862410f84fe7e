/** The development issuer's routes. Mounted in development mode only; elsewhere these paths are unknown. */

import { Type } from "@sinclair/typebox";
import { isObject, JsonObject } from "../../../actors/kernel/json.ts";
import { reply } from "../../http/answer.ts";
import { definePublicRoute, type RawContent, type Route, rawBody } from "../../http/route.ts";
import {
  type DevelopmentIssuer,
  Discovery,
  oauthProblem,
  TokenAnswer,
  type TokenRequest,
} from "../../identity/tokens/development-issuer.ts";

const params = Type.Object({ realm: Type.String() });
const TokenFields = Type.Object(
  {
    grant_type: Type.Union([Type.Literal("client_credentials"), Type.Literal("password")]),
    client_id: Type.Optional(Type.String()),
    client_secret: Type.Optional(Type.String()),
    username: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
  },
  {
    additionalProperties: true,
    examples: [{ grant_type: "client_credentials", client_id: "svc-dev", client_secret: "svc-dev-secret" }],
  },
);
const noStore = { "Cache-Control": "no-store", Pragma: "no-cache" };

export function developmentIssuerRoutes(issuer: DevelopmentIssuer): Route[] {
  return [
    definePublicRoute({
      method: "POST",
      path: "/realms/:realm/protocol/openid-connect/token",
      tag: "development issuer",
      summary: "A development token, by client_credentials or password",
      params,
      body: rawBody({
        limit: 64 * 1024,
        schema: TokenFields,
        shown: ["application/x-www-form-urlencoded", "application/json"],
      }),
      responses: { 200: TokenAnswer },
      refusals: ["realm_not_found", "invalid_request", "unsupported_grant_type", "invalid_grant", "invalid_client"],
      handler: async (call) => {
        const request = { fields: fieldsOf(call.body), basic: basicCredentials(call.request.headers) };
        return reply(200, await issuer.token(call.params.realm, request), noStore);
      },
    }),
    definePublicRoute({
      method: "GET",
      path: "/realms/:realm/protocol/openid-connect/certs",
      tag: "development issuer",
      summary: "The development issuer's public keys",
      params,
      responses: { 200: Type.Object({ keys: Type.Array(JsonObject) }) },
      refusals: ["realm_not_found"],
      handler: (call) => issuer.certificates(call.params.realm),
    }),
    definePublicRoute({
      method: "GET",
      path: "/realms/:realm/.well-known/openid-configuration",
      tag: "development issuer",
      summary: "Where the development issuer's endpoints are",
      params,
      responses: { 200: Discovery },
      refusals: ["realm_not_found"],
      handler: (call) => issuer.discovery(call.params.realm),
    }),
  ];
}

/** The fields of a form, or of a JSON object. */
function fieldsOf(body: RawContent): TokenRequest["fields"] {
  if (body.mediaType !== "application/json") return Object.fromEntries(new URLSearchParams(body.text()));
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.text());
  } catch {
    throw oauthProblem("invalid_request", "The body is not valid JSON");
  }
  if (!isObject(parsed)) {
    throw oauthProblem("invalid_request", "The body is no JSON object");
  }
  return parsed as TokenRequest["fields"];
}

/** HTTP Basic as OAuth has it: both halves form-encoded. */
function basicCredentials(headers: Headers): TokenRequest["basic"] {
  const encoded = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 0) return null;
  return { id: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
