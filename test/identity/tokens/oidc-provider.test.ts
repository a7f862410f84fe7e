/** A real OpenID provider on loopback vouches for callers (docs/reference/identity.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { Type } from "@sinclair/typebox";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";
import { defineRoute } from "../../../src/http/route.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { type OpenApp, openApp, openTestIdentity } from "../../http/open-app.ts";

let stores: TestStores;
let app: OpenApp;
let server: Server;
let provider: Provider;
let issuer = "";
let now = Date.now();

async function signingKey(alg: string, kid: string) {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, kid, use: "sig" };
}

const client = (client_id: string, alg: string) => ({
  client_id,
  id_token_signed_response_alg: alg as "RS256",
  client_secret: `${client_id}-secret`,
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
});

/** A provider that signs with one key; `urn:svc` is us, any other resource is another service. */
async function startProvider(alg: "RS256" | "ES256" | "EdDSA", kid: string): Promise<Provider> {
  return new Provider(issuer, {
    clients: [client("web-backend", alg), client("auditor", alg)],
    jwks: { keys: [await signingKey(alg, kid)] },
    clientAuthMethods: ["client_secret_post", "client_secret_basic"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: "agent:list tenant:provision",
          audience: resource === "urn:svc" ? "svc-orchestrator" : "newUser-else",
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg } },
        }),
      },
    },
    extraTokenClaims: (_context, token) =>
      token.clientId === "auditor"
        ? { svc_role: "svc:readonly" }
        : { preferred_username: "service-account-web-backend" },
  });
}

const who = defineRoute({
  method: "GET",
  path: "/v1/who",
  summary: "The caller",
  scope: "agent:list",
  responses: { 200: Type.Unknown() },
  handler: ({ identity, tenant }) => ({ kind: identity.kind, role: identity.role, client: identity.clientId, tenant }),
});

beforeAll(async () => {
  server = createServer((request, response) => void provider.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  provider = await startProvider("RS256", "first");
  stores = await freshStores();
  const realm = {
    slug: "svc-system",
    kind: "system",
    issuer_url: issuer,
    jwks_uri: `${issuer}/jwks`,
    audience: "svc-orchestrator",
  };
  const { authenticator } = openTestIdentity({
    sql: stores.sql,
    auth: { realms: [realm], service_accounts: [{ client_id: "web-backend" }] },
    now: () => now,
  });
  app = openApp({ routes: [who], authenticator });
});
afterAll(async () => {
  await app?.stop();
  server?.closeAllConnections();
  server?.close();
  await stores?.dispose();
});

async function tokenFor(client_id: string, resource = "urn:svc"): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id,
      client_secret: `${client_id}-secret`,
      resource,
    }),
  });
  const body = (await response.json()) as { access_token?: string };
  if (!body.access_token) throw new Error(JSON.stringify(body));
  return body.access_token;
}

async function ask(token: string) {
  const response = await fetch(`${app.url}/v1/who`, { headers: { authorization: `Bearer ${token}` } });
  return [response.status, await response.json()] as [number, Record<string, unknown>];
}

test("its machine client is a service account", async () => {
  const [status, body] = await ask(await tokenFor("web-backend"));
  expect([status, body]).toEqual([
    200,
    { kind: "service_account", role: null, client: "web-backend", tenant: "svc-system" },
  ]);
});

test("its role claim counts", async () => {
  const [status, body] = await ask(await tokenFor("auditor"));
  expect([status, body.kind, body.role]).toEqual([200, "service_account", "readonly"]);
});

test("a token for another audience, and an expired one, are refused", async () => {
  expect((await ask(await tokenFor("web-backend", "urn:other")))[1].code).toBe("invalid_token");
  const token = await tokenFor("web-backend");
  now = Date.now();
  expect((await ask(token))[0]).toBe(200);
  now += 331_000;
  expect((await ask(token))[1].code).toBe("token_expired");
  now = Date.now();
});

test.each(["ES256", "EdDSA"] as const)("after it rotates to a key of %s its next token passes at once", async (alg) => {
  provider = await startProvider(alg, `next-${alg}`);
  expect((await ask(await tokenFor("web-backend")))[0]).toBe(200);
  // A realm is searched for an unknown key once in 10 s.
  now += 10_000;
});
