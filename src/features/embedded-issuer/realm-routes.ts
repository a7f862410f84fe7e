/** The paths of the embedded identity provider. Without it they are unknown. */
import { type Static, Type } from "@sinclair/typebox";
import { JsonObject } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { media, reply } from "../../http/answer.ts";
import { definePublicRoute, type Method, type Route, rawBody } from "../../http/route.ts";
import type { Entrance } from "./entrance.ts";

/** An error as OAuth has it, with the members of every error of the service. */
const Refusal = Type.Object({
  error: Type.String(),
  error_description: Type.Optional(Type.String()),
  code: Type.String(),
  request_id: Type.String(),
  scope: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
});
const page = media("text/html");
const refused = Type.Union([Refusal, page]);
const responses = {
  200: Type.Union([JsonObject, media("application/jwk-set+json"), page]),
  303: page,
  400: refused,
  401: refused,
  403: refused,
  404: refused,
  429: page,
  500: refused,
};

/** By path behind the realm: what it serves, and by which methods. */
const paths: readonly (readonly [methods: readonly Method[], path: string, summary: string])[] = [
  [["GET"], "/.well-known/openid-configuration", "Where the provider's endpoints are"],
  [["GET"], "/protocol/openid-connect/certs", "The provider's public keys"],
  [["GET", "POST"], "/protocol/openid-connect/auth", "Begin a sign-in by authorization code with PKCE"],
  [["GET"], "/protocol/openid-connect/auth/:uid", "Go on with a sign-in"],
  [["POST"], "/protocol/openid-connect/auth/device", "Begin a sign-in on a device"],
  [["POST"], "/protocol/openid-connect/token", "Tokens for a code, a refresh token, a device or a machine"],
  [["POST"], "/protocol/openid-connect/revoke", "End a refresh token with its grant"],
  [["GET", "POST"], "/protocol/openid-connect/logout", "End the session"],
  [["POST"], "/protocol/openid-connect/logout/confirm", "End the session, confirmed"],
  [["GET"], "/protocol/openid-connect/logout/success", "The session has ended"],
  [["GET", "POST"], "/device", "Let a device in"],
  [["GET"], "/device/:uid", "Go on with letting a device in"],
  [["GET"], "/sign-in", "Leads to the account"],
  [["GET", "POST"], "/sign-in/:uid", "Sign in"],
  [["GET"], "/sign-in/:uid/saml", "Sign in by the tenant's own identity provider"],
  [["POST"], "/saml/acs", "The answer of the tenant's own identity provider"],
  [["GET", "POST"], "/account", "A person's own page"],
  [["GET", "POST"], "/invitation", "Accept an invitation"],
  [["GET", "POST"], "/reset", "Set a new password by a link"],
  [["GET", "POST"], "/sign-up", "Register"],
  [["GET", "POST"], "/sign-up/confirm", "Prove a registered address"],
];

/** What the provider tells a client of the person whose token it sends (OpenID Connect Core, 5.3). */
const UserInfo = Type.Object({
  sub: Type.String(),
  email: Type.String(),
  email_verified: Type.Boolean(),
  name: Type.Optional(Type.String()),
});

export type UserInfoOf = (realm: string, request: Request) => Promise<Static<typeof UserInfo> | null>;

export function realmRoutes(entrance: Entrance, userInfoOf: UserInfoOf): Route[] {
  const userInfo = (["GET", "POST"] as const).map((method) =>
    definePublicRoute({
      method,
      path: "/realms/:realm/protocol/openid-connect/userinfo",
      tag: "embedded issuer",
      summary: "Whose access token this is",
      params: Type.Object({ realm: Type.String() }),
      responses: { 200: UserInfo },
      refusals: ["invalid_token"],
      handler: async (call) => {
        const info = await userInfoOf(call.params.realm, call.request);
        if (info !== null) return reply(200, info, { "Cache-Control": "no-store" });
        throw new Problem("invalid_token", "The token is no person's of this realm");
      },
    }),
  );
  return [...userInfo, ...forwarded(entrance)];
}

function forwarded(entrance: Entrance): Route[] {
  return paths.flatMap(([methods, path, summary]) =>
    methods.map((method) => {
      const params = Type.Object({
        realm: Type.String(),
        ...(path.includes("/:uid") ? { uid: Type.String() } : {}),
      });
      return definePublicRoute({
        method,
        path: `/realms/:realm${path}`,
        tag: "embedded issuer",
        summary,
        params,
        ...(method === "POST" ? { body: rawBody({ limit: path === "/saml/acs" ? 256 * 1024 : 64 * 1024 }) } : {}),
        responses,
        refusals: ["realm_not_found"],
        handler: (call) => entrance.forward(call),
      });
    }),
  );
}
