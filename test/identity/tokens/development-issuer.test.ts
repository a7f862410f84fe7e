import { afterAll, beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { developmentIssuerRoutes } from "../../../src/features/development-issuer/routes.ts";
import { defineRoute } from "../../../src/http/route.ts";
import type { TokenAlgorithm } from "../../../src/identity/settings.ts";
import {
  createDevelopmentIssuer,
  type DevelopmentIssuer,
  defaultDevelopmentClients,
  readDevelopmentClients,
} from "../../../src/identity/tokens/development-issuer.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { type OpenApp, openApp, openTestIdentity } from "../../http/open-app.ts";

let stores: TestStores;
let issuer: DevelopmentIssuer;
let app: OpenApp;

const makeIssuer = (algorithm: TokenAlgorithm) =>
  createDevelopmentIssuer({
    sql: stores.sql,
    publicUrl: "http://svc.test:8080",
    algorithm,
    clients: defaultDevelopmentClients,
    password: "dev",
    now: Date.now,
  });
const who = defineRoute({
  method: "GET",
  path: "/v1/who",
  summary: "The caller",
  responses: { 200: Type.Unknown() },
  handler: ({ identity, tenant }) => ({ ...identity, scopes: [...identity.scopes], tenant }),
});
const write = defineRoute({
  method: "POST",
  path: "/v1/who",
  summary: "Writes",
  scope: "agent:deploy",
  responses: { 200: Type.Unknown() },
  handler: () => ({}),
});
const leave = defineRoute({
  method: "DELETE",
  path: "/v1/who",
  summary: "Takes away",
  whileSuspended: true,
  responses: { 200: Type.Unknown() },
  handler: ({ tenant }) => ({ tenant }),
});
const accounts = [{ client_id: "svc-service", tenants: ["acme", "u-1", "t-0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11"] }];

beforeAll(async () => {
  stores = await freshStores();
  issuer = await makeIssuer("RS256");
  const auth = { service_accounts: accounts };
  const { authenticator } = openTestIdentity({ sql: stores.sql, auth, development: issuer });
  app = openApp({ routes: [...developmentIssuerRoutes(issuer), who, write, leave], authenticator });
});
afterAll(async () => {
  await app?.stop();
  await stores?.dispose();
});

async function token(realm: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}/realms/${realm}/protocol/openid-connect/token`, {
    method: "POST",
    headers,
    body: new URLSearchParams(fields),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, response };
}
const service = { grant_type: "client_credentials", client_id: "svc-service", client_secret: "svc-service-secret" };
const dev = { grant_type: "client_credentials", client_id: "svc-dev", client_secret: "svc-dev-secret" };
const person = (username: string) => ({ grant_type: "password", username, password: "dev" });

const issuedAt = (accessToken: unknown): number => Number(decodeJwt(String(accessToken)).iat);

async function ask(accessToken: unknown, headers: Record<string, string> = {}, method = "GET") {
  const response = await fetch(`${app.url}/v1/who`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, ...headers },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("the answer has exactly these members", async () => {
  const { status, body, response } = await token("svc-system", service);
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    token_type: "Bearer",
    expires_in: 300,
    refresh_expires_in: 0,
    scope: "",
  });
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test.each([
  ["svc-system", dev, { kind: "service_account", role: "admin", tenant: "svc-system", clientId: "svc-dev" }],
  ["svc-system", service, { kind: "service_account", role: null, tenant: "svc-system", clientId: "svc-service" }],
  ["svc-system", person("readonly"), { kind: "operator", role: "readonly", tenant: "svc-system" }],
  ["svc-system", { ...service, role: "readonly" }, { kind: "service_account", role: "readonly" }],
  [
    "svc-consumer",
    { ...person("ann"), tier: "pro", email: "a@b.c" },
    { kind: "consumer", tier: "pro", email: "a@b.c" },
  ],
  ["svc-consumer", { ...person("ann"), email: "a@b.c", email_verified: "false" }, { kind: "consumer", email: null }],
  ["svc-consumer", { ...person("ann"), sub: "Ann-1" }, { kind: "consumer", userId: "Ann-1", tenant: "u-ann1" }],
  // The first user of a tenant is its owner.
  ["tenant-acme", person("bob"), { kind: "tenant_user", membership: "owner", tenant: "acme", role: null }],
  ["tenant-acme", person("cleo"), { kind: "tenant_user", membership: "admin", tenant: "acme", role: null }],
  ["tenant-acme", { ...person("dan"), role: "tenant:member" }, { kind: "tenant_user", membership: "member" }],
  ["tenant-acme", { ...person("dan"), role: "tenant:owner" }, { kind: "tenant_user", membership: "admin" }],
  // A tenant that exists by now.
  [
    "svc-consumer",
    { ...person("ann"), tenant_id: "acme", role: "tenant:owner" },
    { kind: "consumer", membership: "member", tenant: "acme" },
  ],
] as const)("a token of %s for %j is believed", async (realm, fields, expected) => {
  const { status, body } = await ask((await token(realm, fields)).body.access_token);
  expect([status, body]).toEqual([200, expect.objectContaining(expected)]);
});

test("credentials may come by HTTP Basic, and fields as JSON", async () => {
  const basic = { authorization: `Basic ${btoa("svc-service:svc-service-secret")}` };
  expect((await token("svc-system", { grant_type: "client_credentials" }, basic)).status).toBe(200);
  const response = await fetch(`${app.url}/realms/svc-system/protocol/openid-connect/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...service, expires_in: 60, scope: "agent:list" }),
  });
  expect(await response.json()).toMatchObject({ expires_in: 60, scope: "agent:list" });
});

test.each([
  ["svc-system", {}, 400, "invalid_request"],
  ["svc-system", { grant_type: "client_credentials" }, 400, "invalid_request"],
  ["svc-system", { grant_type: "authorization_code" }, 400, "unsupported_grant_type"],
  ["svc-system", { ...service, client_secret: "wrong" }, 401, "invalid_client"],
  ["svc-system", { ...service, client_id: "nobody" }, 401, "invalid_client"],
  ["svc-system", { ...person("admin"), password: "wrong" }, 400, "invalid_grant"],
  ["svc-system", person("ann"), 400, "invalid_grant"],
  ["svc-consumer", { grant_type: "password", username: "ann" }, 400, "invalid_request"],
  ["svc-system", { ...service, expires_in: "0" }, 400, "invalid_request"],
  ["svc-system", { ...service, expires_in: "86401" }, 400, "invalid_request"],
  ["svc-consumer", { ...person("ann"), email: "a@b.c", email_verified: "perhaps" }, 400, "invalid_request"],
  ["nowhere", service, 404, "realm_not_found"],
  ["tenant-Bad_Slug", service, 404, "realm_not_found"],
  ["tenant-svc-system", service, 404, "realm_not_found"],
  ["tenant-u-newUser", person("ann"), 404, "realm_not_found"],
  ["tenant-t-0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11", person("ann"), 404, "realm_not_found"],
] as const)("%s with %j is refused", async (realm, fields, status, code) => {
  const answer = await token(realm, fields);
  expect(answer.status).toBe(status);
  expect(answer.body).toEqual({
    error: code,
    code,
    error_description: expect.any(String),
    request_id: expect.any(String),
  });
  expect(answer.response.headers.get("www-authenticate")).toBe(status === 401 ? "Basic" : null);
});

test.each(["RS256", "ES256", "EdDSA"] as const)(
  "%s keys outlive a restart and are published without their private half",
  async (algorithm) => {
    const [one, two] = await Promise.all([makeIssuer(algorithm), makeIssuer(algorithm)]);
    const tokens = await Promise.all(
      [one, two, await makeIssuer(algorithm)].map((each) => each.token("svc-system", { fields: service, basic: null })),
    );
    const kids = tokens.map((each) => decodeProtectedHeader(String(each.access_token)));
    expect(new Set(kids.map(({ kid }) => kid)).size).toBe(1);
    expect(kids[0]).toMatchObject({ alg: algorithm, typ: "JWT" });
    expect(decodeJwt(String(tokens[0]?.access_token)).iss).toBe("http://svc.test:8080/realms/svc-system");
    const { authenticator } = openTestIdentity({ sql: stores.sql, development: one });
    const request = new Request("http://x", { headers: { authorization: `Bearer ${tokens[0]?.access_token}` } });
    expect((await authenticator.identify(request, false, null)).clientId).toBe("svc-service");
    const { keys } = (await (await fetch(`${app.url}/realms/svc-system/protocol/openid-connect/certs`)).json()) as {
      keys: Record<string, unknown>[];
    };
    const published = keys.find(({ kid }) => kid === kids[0]?.kid);
    expect(published).toMatchObject({ alg: algorithm, use: "sig" });
    for (const secret of ["d", "p", "q", "dp", "dq", "qi"]) expect(published).not.toHaveProperty(secret);
  },
);

test("discovery names the endpoints", async () => {
  const answer = await fetch(`${app.url}/realms/tenant-acme/.well-known/openid-configuration`);
  expect(await answer.json()).toMatchObject({
    issuer: "http://svc.test:8080/realms/tenant-acme",
    token_endpoint: "http://svc.test:8080/realms/tenant-acme/protocol/openid-connect/token",
    jwks_uri: "http://svc.test:8080/realms/tenant-acme/protocol/openid-connect/certs",
    grant_types_supported: ["client_credentials", "password"],
  });
});

test("outside development mode the paths are unknown", async () => {
  const production = openApp({ routes: [who], authenticator: openTestIdentity({ sql: stores.sql }).authenticator });
  const answer = await fetch(`${production.url}/realms/svc-system/protocol/openid-connect/token`, { method: "POST" });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, "not_found"]);
  const accessToken = (await token("svc-system", service)).body.access_token;
  const asked = await fetch(`${production.url}/v1/who`, { headers: { authorization: `Bearer ${accessToken}` } });
  expect(asked.status).toBe(401);
  await production.stop();
});

const team = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";
test.each([
  ["svc-system", service, { "x-tenant-id": "acme" }, "acme"],
  ["svc-system", service, { "x-tenant-id": "" }, "svc-system"],
  ["svc-system", service, { "x-tenant-id": "elsewhere" }, "tenant_delegation_forbidden"],
  ["svc-system", service, { "x-tenant-id": "Bad_Slug" }, "invalid_tenant_slug"],
  ["svc-system", service, { "x-tenant-id": `t-${team}` }, "tenant_not_found"],
  ["svc-system", dev, { "x-tenant-id": "brand-new" }, "brand-new"],
  ["svc-system", dev, { "x-svc-tenant": "acme" }, "svc-system"],
  ["svc-system", person("admin"), { "x-svc-tenant": "acme" }, "acme"],
  ["svc-system", person("admin"), { "x-svc-tenant": "unheard-of" }, "tenant_not_found"],
  ["svc-system", person("admin"), { "x-svc-tenant": "Bad_Slug" }, "invalid_tenant_slug"],
  ["svc-system", person("operator"), { "x-svc-tenant": "acme" }, "svc-system"],
  ["svc-consumer", { ...person("x"), sub: "x" }, { "x-tenant-id": "acme", "x-svc-tenant": "acme" }, "u-x"],
  ["svc-consumer", { ...person("x"), sub: "x" }, { "x-svc-team": team }, "not_a_team_member"],
  ["svc-consumer", { ...person("x"), sub: "x" }, { "x-svc-team": "nonsense" }, "invalid_tenant_slug"],
  ["svc-consumer", { ...person("x"), sub: "x", tenant_id: "u-x" }, {}, "u-x"],
  ["svc-consumer", { ...person("x"), sub: "x", tenant_id: "u-y" }, {}, "invalid_tenant_slug"],
  ["svc-consumer", { ...person("x"), tenant_id: `t-${team}` }, {}, "invalid_tenant_slug"],
  ["svc-consumer", { ...person("x"), tenant_id: "unheard-of" }, {}, "invalid_tenant_slug"],
] as const)("%s as %j with %j acts in %s", async (realm, fields, headers, expected) => {
  await stores.sql`insert into tenants (slug, kind, display_name) values ('acme', 'enterprise', 'acme') on conflict do nothing`;
  const { body } = await ask((await token(realm, fields)).body.access_token, { ...headers });
  expect(body.tenant ?? body.code).toBe(expected);
});

test("a delegated tenant comes into being at its first write; a read makes none", async () => {
  const delegated = { "x-tenant-id": "brand-new" };
  const bearer = async (role?: string) =>
    (await token("svc-system", { ...dev, ...(role && { role }) })).body.access_token;
  const exists = async () => (await stores.sql`select 1 from tenants where slug = 'brand-new'`).count > 0;
  expect((await ask(await bearer(), delegated)).body.tenant).toBe("brand-new");
  expect((await ask(await bearer("readonly"), delegated)).body.tenant).toBe("brand-new");
  const refused = await ask(await bearer("readonly"), delegated, "POST");
  expect([refused.status, refused.body.code, await exists()]).toEqual([404, "tenant_not_found", false]);
  expect((await ask(await bearer(), delegated, "POST")).status).toBe(200);
  expect(await exists()).toBe(true);
});

test("tenants come into being at first use, of the right kind", async () => {
  const rows =
    await stores.sql`select slug, kind from tenants where slug in ('brand-new', 'u-x', 'svc-system') order by slug`;
  expect(rows.map(({ slug, kind }) => `${slug} ${kind}`)).toEqual([
    "brand-new enterprise",
    "svc-system system",
    "u-x consumer",
  ]);
  expect((await stores.sql`select 1 from tenants where slug in ('unheard-of', 'elsewhere')`).count).toBe(0);
});

test.each([
  ["suspended", "tenant_suspended"],
  ["deleted", "tenant_deleted"],
])("a %s tenant is closed, but an admin may look in", async (state, code) => {
  const slug = `${state}-one`;
  await stores.sql`insert into tenants (slug, kind, display_name, status) values (${slug}, 'enterprise', ${slug}, ${state})`;
  const user = (await token(`tenant-${slug}`, person("bob"))).body.access_token;
  const refusal = await ask(user);
  expect([refusal.status, refusal.body.code]).toEqual([403, code]);
  const admin = (await token("svc-system", person("admin"))).body.access_token;
  expect((await ask(admin, { "x-svc-tenant": slug })).body.tenant).toBe(slug);
  expect((await ask(admin, { "x-svc-tenant": slug }, "POST")).body.code).toBe(code);
});

test("a suspended tenant still answers where a route says so, a deleted one does not", async () => {
  const insert = (slug: string, state: string) =>
    stores.sql`insert into tenants (slug, kind, display_name, status) values (${slug}, 'enterprise', ${slug}, ${state})`;
  await insert("held", "suspended");
  await insert("ended", "deleted");
  const inside = async (slug: string) => {
    const bearer = (await token(`tenant-${slug}`, person("bob"))).body.access_token;
    return [(await ask(bearer, {}, "DELETE")).body, (await ask(bearer)).body.code];
  };
  expect(await inside("held")).toEqual([{ tenant: "held" }, "tenant_suspended"]);
  expect(await inside("ended")).toEqual([expect.objectContaining({ code: "tenant_deleted" }), "tenant_deleted"]);
});

test("the tier claim of a consumer's newest token is the tier of the own tenant", async () => {
  const stored = async () => (await stores.sql`select claimed_tier from tenants where slug = 'u-tier'`)[0];
  const withTier = (tier: string) => token("svc-consumer", { ...person("tier"), sub: "tier", tier });
  const earlier = (await withTier("business")).body.access_token;
  expect((await ask(earlier)).status).toBe(200);
  expect(await stored()).toEqual({ claimed_tier: "business" });
  // Issued a second later: tokens of one second are of one age.
  await until(async () => issuedAt((await withTier("pro")).body.access_token) > issuedAt(earlier));
  expect((await ask((await withTier("pro")).body.access_token)).status).toBe(200);
  expect(await stored()).toEqual({ claimed_tier: "pro" });
  expect((await ask(earlier)).status).toBe(200);
  expect(await stored()).toEqual({ claimed_tier: "pro" });
});

test("a change of state is seen within 5 s", async () => {
  let now = Date.now();
  const { tenants } = openTestIdentity({ sql: stores.sql, now: () => now });
  expect(await tenants.ensure("changing")).toBe("active");
  await stores.sql`update tenants set status = 'suspended' where slug = 'changing'`;
  now += 4999;
  expect(await tenants.status("changing")).toBe("suspended");
});

test("clients may be replaced, and a bad list is told", () => {
  expect(readDevelopmentClients(null)).toEqual(defaultDevelopmentClients);
  expect(readDevelopmentClients([{ client_id: "a", client_secret: "b" }])).toHaveLength(1);
  expect(readDevelopmentClients([{ id: "a" }])).toBeNull();
});
