/** The settings of docs/guide/identity-providers.md against tokens as Keycloak, Auth0 and Entra ID make them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { parse } from "yaml";
import { defineRoute } from "../../../src/http/route.ts";
import { readAuthSettings } from "../../../src/identity/settings.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { type OpenApp, openApp, openTestIdentity } from "../../http/open-app.ts";
import { makeKey, sign, startIssuer, type TestIssuer, type TestKey } from "../issuer.ts";

interface Realm {
  readonly slug: string;
  readonly issuer_url: string;
  readonly jwks_uri?: string;
}
interface Settings {
  readonly realms: readonly Realm[];
}

const guide = readFileSync(join(import.meta.dir, "../../../docs/guide/identity-providers.md"), "utf8");

/** The settings under a heading of the guide. */
function settingsOf(provider: string): Settings {
  const section = guide.slice(guide.indexOf(`\n## ${provider}\n`));
  const block = /```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
  return (parse(block) as { auth: Settings }).auth;
}

const whoAmI = defineRoute({
  method: "GET",
  path: "/v1/who",
  summary: "The caller",
  scope: "agent:list",
  responses: { 200: Type.Any() },
  handler: ({ identity: { kind, role, membership, email, clientId }, tenant }) => ({
    kind,
    role: role ?? membership,
    tenant,
    email,
    clientId,
  }),
});

let stores: TestStores;
let key: TestKey;
let jwks: TestIssuer;
const apps = new Map<string, OpenApp>();
beforeAll(async () => {
  stores = await freshStores();
  key = await makeKey("RS256", "k1");
  // As Entra has it: its keys name no algorithm.
  const { alg: _, ...published } = key.publicJwk;
  jwks = startIssuer([published]);
  for (const provider of ["Keycloak", "Auth0", "Microsoft Entra ID"]) {
    const auth = settingsOf(provider);
    const near = { ...auth, realms: auth.realms.map((realm) => ({ ...realm, jwks_uri: jwks.jwksUri })) };
    apps.set(
      provider,
      openApp({ routes: [whoAmI], authenticator: openTestIdentity({ sql: stores.sql, auth: near }).authenticator }),
    );
  }
});
afterAll(async () => {
  for (const app of apps.values()) await app.stop();
  await jwks?.stop();
  await stores?.dispose();
});

async function who(provider: string, claims: Record<string, unknown>, headers: Record<string, string> = {}) {
  const token = await sign(key, claims);
  const response = await fetch(`${apps.get(provider)?.url}/v1/who`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  const body = (await response.json()) as Record<string, unknown>;
  return response.status === 200 ? body : `${response.status} ${body.code}`;
}

test.each(["Keycloak", "Auth0", "Microsoft Entra ID"])("production takes the guide's settings for %s", (provider) => {
  expect(readAuthSettings(settingsOf(provider), false).problems).toEqual([]);
});

test("Keycloak: roles of the realm, service accounts, a company's people", async () => {
  const iss = "https://id.example.com/realms/svc-system";
  const usual = { aud: ["svc-orchestrator", "account"], typ: "Bearer", scope: "openid email profile" };
  const roles = (...own: string[]) => ({ realm_access: { roles: ["offline_access", "uma_authorization", ...own] } });
  const person = { iss, ...usual, azp: "svc-console", sub: "p1", preferred_username: "ann", email: "ann@x.test" };
  expect(await who("Keycloak", { ...person, ...roles("svc:admin"), email_verified: true })).toEqual({
    kind: "operator",
    role: "admin",
    tenant: "svc-system",
    email: "ann@x.test",
    clientId: null,
  });
  expect(await who("Keycloak", { ...person, ...roles(), email_verified: true })).toBe("401 identity_not_recognized");
  expect(await who("Keycloak", { ...person, ...roles("svc:admin"), aud: "account" })).toBe("401 invalid_token");
  const machine = { iss, ...usual, azp: "acme-backend", client_id: "acme-backend", sub: "m1", ...roles() };
  const account = { ...machine, preferred_username: "service-account-acme-backend" };
  expect(await who("Keycloak", account, { "X-Tenant-Id": "acme" })).toMatchObject({
    kind: "service_account",
    role: null,
    tenant: "acme",
    clientId: "acme-backend",
  });
  const acme = {
    ...usual,
    iss: "https://id.example.com/realms/tenant-acme",
    azp: "svc-console",
    email_verified: false,
  };
  expect(await who("Keycloak", { ...acme, ...roles(), sub: "first", email: "x@x.test" })).toMatchObject({
    kind: "tenant_user",
    role: "owner",
    tenant: "acme",
    email: null,
  });
  expect(await who("Keycloak", { ...acme, ...roles("tenant:member"), sub: "second" })).toMatchObject({
    role: "member",
  });
});

test("Auth0: roles of an action, machines by their grant", async () => {
  const iss = "https://example.eu.auth0.com/";
  const usual = { iss, aud: ["https://svc.example.com", `${iss}userinfo`], scope: "openid profile email" };
  const role = (value: unknown) => ({ "https://svc.example.com/role": value });
  const person = { ...usual, azp: "spa", sub: "auth0|1", email: "ann@x.test", email_verified: true };
  expect(await who("Auth0", { ...person, ...role(["svc:readonly", "billing"]) })).toEqual({
    kind: "operator",
    role: "readonly",
    tenant: "svc-system",
    email: "ann@x.test",
    clientId: null,
  });
  expect(await who("Auth0", { ...person, ...role([]) })).toBe("401 identity_not_recognized");
  expect(await who("Auth0", { ...person, ...role(["svc:admin"]), iss: iss.slice(0, -1) })).toBe("401 invalid_token");
  const machine = { iss, aud: "https://svc.example.com", gty: "client-credentials" };
  const known = { ...machine, azp: "8kd0WmX2tQ7vYbN4", sub: "8kd0WmX2tQ7vYbN4@clients" };
  expect(await who("Auth0", known, { "X-Tenant-Id": "acme" })).toMatchObject({
    kind: "service_account",
    role: null,
    tenant: "acme",
    clientId: "8kd0WmX2tQ7vYbN4",
  });
  const other = { ...machine, azp: "other", sub: "other@clients" };
  expect(await who("Auth0", other)).toBe("401 identity_not_recognized");
  expect(await who("Auth0", { ...other, ...role("svc:operator") })).toMatchObject({
    kind: "service_account",
    role: "operator",
  });
});

test("Entra ID: app roles, listed machines, no address", async () => {
  const directory = "https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555";
  const usual = { iss: `${directory}/v2.0`, aud: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", ver: "2.0" };
  const person = { ...usual, azp: "console", sub: "pairwise", oid: "o1", scp: "access", email: "ann@x.test" };
  expect(await who("Microsoft Entra ID", { ...person, roles: ["svc:operator"] })).toEqual({
    kind: "operator",
    role: "operator",
    tenant: "svc-system",
    email: null,
    clientId: null,
  });
  expect(await who("Microsoft Entra ID", person)).toBe("401 identity_not_recognized");
  const machine = { ...usual, azp: "99999999-8888-7777-6666-555555555555", sub: "o2", oid: "o2" };
  expect(await who("Microsoft Entra ID", { ...machine, roles: ["svc:admin"] })).toMatchObject({
    kind: "service_account",
    role: "admin",
    clientId: machine.azp,
  });
  expect(await who("Microsoft Entra ID", machine, { "X-Tenant-Id": "acme" })).toMatchObject({ tenant: "acme" });
  const former = { ...machine, iss: "https://sts.windows.net/11111111-2222-3333-4444-555555555555/", ver: "1.0" };
  expect(await who("Microsoft Entra ID", former)).toBe("401 invalid_token");
});
