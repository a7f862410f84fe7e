/** People of tenants, machines and administrators at the embedded identity provider, on a node of tenants' realms. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyDigest } from "../../../src/identity/callers/api-keys.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { claimsOf, codeOf, publicUrl, Realm, shownRecoveryCodes, shownSecret, startIssuer } from "./fixture.ts";

let stores: TestStores;
let node: NodeProcess;
const folder = mkdtempSync(join(tmpdir(), "svc-issuer-test-"));
const system = new Realm(() => node, "svc-system");
const acme = new Realm(() => node, "tenant-acme");
const rooted: Record<string, string> = {};

const machines = { "web-backend": "a secret of the web", janitor: "a secret of the janitor" };

beforeAll(async () => {
  stores = await freshStores();
  const file = join(folder, "svc.yaml");
  const accounts = [
    { client_id: "web-backend", secret: "env:WEB_SECRET", tenants: ["*"] },
    { client_id: "janitor", secret: "env:JANITOR_SECRET", role: "admin", tenants: [] },
  ];
  writeFileSync(file, JSON.stringify({ auth: { service_accounts: accounts } }));
  node = await startIssuer(stores, {
    SVC_CONFIG_FILE: file,
    WEB_SECRET: machines["web-backend"],
    JANITOR_SECRET: machines.janitor,
  });
  Object.assign(rooted, as((await machineToken("janitor")).access_token));
  await stores.sql`
    insert into tenants (slug, kind, display_name, owner_email) values ('acme', 'enterprise', 'Acme', 'olga@acme.test')`;
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const as = (token: string) => ({ Authorization: `Bearer ${token}` });
const machineToken = (client_id: keyof typeof machines) =>
  system.token({
    grant_type: "client_credentials",
    client_id,
    client_secret: machines[client_id],
    scope: "tenant:provision",
  });

async function tokenOf(realm: Realm, email: string, password: string) {
  const browser = realm.browser();
  const tokens = await realm.tokens(browser, await realm.withPassword(browser, email, password));
  return { browser, tokens, headers: as(tokens.access_token), id: String(claimsOf(tokens.access_token).sub) };
}

/** Invited by the colony of acme, the person accepts on the realm's page. */
async function joined(email: string, role: string, password: string, by: Record<string, string>) {
  const made = await node.call("POST", "/v1/colony/members", { email, role }, by);
  expect(made.status).toBe(201);
  const link = new URL(made.body.accept_url);
  expect(link.href.startsWith(`${publicUrl}/realms/tenant-acme/invitation#`)).toBe(true);
  const browser = acme.browser();
  await browser.open(link.pathname);
  await browser.submit({ token: link.hash.slice(1), name: email.split("@")[0] ?? "", password });
  expect(browser.shown?.html).toContain("Welcome");
  await browser.open(link.pathname);
  await browser.submit({ token: link.hash.slice(1), name: "Eve", password });
  expect(browser.shown?.html).toContain("not known, was used");
  const person = await tokenOf(acme, email, password);
  // The membership is made with the first request.
  expect((await node.call("GET", "/v1/agents", undefined, person.headers)).status).toBe(200);
  return person;
}

test("a machine gets tokens by its secret, without scopes that it asks for", async () => {
  const { access_token, scope = "" } = await machineToken("web-backend");
  expect(claimsOf(access_token)).toMatchObject({ sub: "web-backend", azp: "web-backend", aud: "svc-orchestrator" });
  expect([scope, claimsOf(access_token).scope ?? ""]).toEqual(["", ""]);
  expect((await node.call("GET", "/v1/agents", undefined, as(access_token))).status).toBe(200);
  expect((await node.call("GET", "/v1/admin/audit", undefined, as(access_token))).status).toBe(403);
  expect((await node.call("GET", "/v1/admin/audit", undefined, rooted)).status).toBe(200);
  const wrong = { grant_type: "client_credentials", client_id: "web-backend", client_secret: "something else" };
  const right = { ...wrong, client_secret: machines["web-backend"] };
  expect(await system.token(wrong)).toMatchObject({ status: 401, error: "invalid_client", code: "invalid_client" });
  expect((await acme.token(right)).status).toBe(401);
  for (const grant_type of ["password", "implicit"]) {
    const answer = await system.token({ ...right, grant_type, username: "root@svc.test", password: "x" });
    expect([answer.status, answer.error]).toEqual([400, "unsupported_grant_type"]);
  }
});

test("discovery names the endpoints of the realm, and unknown realms are none", async () => {
  const response = await fetch(`${node.url}${acme.path}/.well-known/openid-configuration`);
  const issuer = `${publicUrl}${acme.path}`;
  expect(await response.json()).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/protocol/openid-connect/auth`,
    token_endpoint: `${issuer}/protocol/openid-connect/token`,
    device_authorization_endpoint: `${issuer}/protocol/openid-connect/auth/device`,
    userinfo_endpoint: `${issuer}/protocol/openid-connect/userinfo`,
    revocation_endpoint: `${issuer}/protocol/openid-connect/revoke`,
    end_session_endpoint: `${issuer}/protocol/openid-connect/logout`,
    jwks_uri: `${issuer}/protocol/openid-connect/certs`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    grant_types_supported: expect.not.arrayContaining(["password", "implicit"]),
  });
  const keys = await (await fetch(`${node.url}${acme.path}/protocol/openid-connect/certs`)).json();
  expect(keys.keys).toMatchObject([{ kty: "RSA", alg: "RS256", use: "sig" }]);
  expect(Object.keys(keys.keys[0])).not.toContain("d");
  for (const realm of ["tenant-unknown", "svc-consumer", "tenant-t-1", "tenant-svc-system", "x%2F..%2Fsvc-system"]) {
    const answer = await fetch(`${node.url}/realms/${realm}/protocol/openid-connect/certs`);
    expect([realm, answer.status]).toEqual([realm, 404]);
  }
});

let olga: Awaited<ReturnType<typeof tokenOf>>;
let mark: Awaited<ReturnType<typeof tokenOf>>;

test("people of a tenant come by the colony's invitations, its owner by the address", async () => {
  const token = (await machineToken("web-backend")).access_token;
  const delegated = { ...as(token), "X-Tenant-Id": "acme" };
  olga = await joined("olga@acme.test", "admin", "Olga's own password", delegated);
  mark = await joined("mark@acme.test", "member", "Mark's own password", olga.headers);
  const { body } = await node.call("GET", "/v1/people", undefined, olga.headers);
  expect(body.people).toMatchObject([
    { id: olga.id, role: "owner", realm: "tenant-acme", status: "active", email_verified: true, totp: false },
    { id: mark.id, role: "member", name: "mark" },
  ]);
  const page = await node.call("GET", "/v1/people?limit=1", undefined, olga.headers);
  const next = await node.call("GET", `/v1/people?limit=1&cursor=${page.body.next_cursor}`, undefined, olga.headers);
  expect([page.body.count, next.body.people[0].id]).toEqual([1, mark.id]);
  const found = await node.call("GET", "/v1/people?q=MARK&status=active", undefined, olga.headers);
  expect(found.body.people).toMatchObject([{ id: mark.id }]);
});

test("people are managed by owner, admins and the platform's administrators alone", async () => {
  const tries = [
    ["GET", "/v1/people", mark.headers, 403, "insufficient_scope"],
    ["PATCH", `/v1/people/${olga.id}`, mark.headers, 403, "insufficient_scope"],
    ["POST", "/v1/people", olga.headers, 403, "operator_required"],
    ["PATCH", `/v1/people/${olga.id}`, rooted, 404, "person_not_found"],
    ["PATCH", `/v1/people/${crypto.randomUUID()}`, olga.headers, 404, "person_not_found"],
    ["DELETE", "/v1/people/none", olga.headers, 400, "invalid_id"],
    ["GET", "/v1/people?realm=svc-consumer", rooted, 422, "validation_failed"],
    ["GET", "/v1/people", as((await machineToken("web-backend")).access_token), 403, "operator_required"],
  ] as const;
  for (const [method, path, headers, status, code] of tries) {
    const body = method === "POST" ? { email: "x@acme.test" } : method === "PATCH" ? { name: "X" } : undefined;
    const answer = await node.call(method, path, body, headers);
    expect([method, path, answer.status, answer.body.code]).toEqual([method, path, status, code]);
  }
  const admin = await joined("ada@acme.test", "admin", "Ada's very own password", olga.headers);
  for (const method of ["PATCH", "DELETE"]) {
    const answer = await node.call(
      method,
      `/v1/people/${olga.id}`,
      method === "PATCH" ? { name: "X" } : undefined,
      admin.headers,
    );
    expect(answer).toMatchObject({ status: 403, body: { code: "owner_only" } });
  }
  const invited = await node.call("POST", "/v1/people", { email: "op@svc.test" }, rooted);
  expect(invited).toMatchObject({ status: 422, body: { issues: [{ path: "role" }] } });
});

test("the account page ends sessions, and a new password ends the others", async () => {
  const password = "Olga's own password";
  const other = acme.browser("another browser");
  const tokens = await acme.tokens(other, await acme.withPassword(other, "olga@acme.test", password));
  const { browser } = olga;
  await browser.open(`${acme.path}/account`);
  expect(browser.shown?.html).toContain("another browser");
  const id = /name="session" value="([0-9a-f-]{36})"/.exec(browser.shown?.html ?? "")?.[1] ?? "";
  await browser.submit({ session: id }, ["do", "end_session"]);
  expect(browser.shown?.html).not.toContain("another browser");
  expect((await other.open(`${acme.path}/account`)).html).toContain("Sign in");
  const refresh = { grant_type: "refresh_token", client_id: "svc-console", refresh_token: tokens.refresh_token };
  expect((await acme.token(refresh)).status).toBe(400);

  const third = await tokenOf(acme, "olga@acme.test", password);
  await browser.open(`${acme.path}/account`);
  await browser.submit({ current: "not hers at all", password: "Olga's next password" }, ["do", "password"]);
  expect(browser.shown?.html).toContain("does not fit");
  await browser.submit({ current: password, password: "Olga's next password" }, ["do", "password"]);
  expect(browser.shown?.html).toContain("Your account");
  expect((await third.browser.open(`${acme.path}/account`)).html).toContain("Sign in");
  const ended = { ...refresh, refresh_token: third.tokens.refresh_token };
  expect((await acme.token(ended)).status).toBe(400);
});

test("an authenticator is set up and turned off on the account page, with the password", async () => {
  const password = "Olga's next password";
  const { browser } = olga;
  await browser.open(`${acme.path}/account`);
  await browser.submit({ current: password }, ["do", "totp_begin"]);
  const secret = shownSecret(browser.shown?.html ?? "");
  await browser.submit({ code: codeOf(secret) });
  expect(shownRecoveryCodes(browser.shown?.html ?? "")).toHaveLength(10);
  const other = acme.browser();
  await acme.withPassword(other, "olga@acme.test", password);
  expect(other.shown?.html).toContain("One more step");
  await browser.open(`${acme.path}/account`);
  await browser.submit({ current: password }, ["do", "totp_off"]);
  expect(browser.shown?.html).toContain("It is not set up");
});

test("forms of other sites, and pages in frames of theirs, do nothing", async () => {
  const { browser } = olga;
  const shown = await browser.open(`${acme.path}/account`);
  const policy = shown.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(shown.html).not.toMatch(/src="|<link|url\(|@import/);
  for (const cookie of browser.kept.filter(({ name }) => name === "svc_session")) {
    expect(cookie.attributes.toLowerCase()).toContain("httponly");
    expect(cookie.attributes.toLowerCase()).toContain("samesite=lax");
    expect(cookie.attributes.toLowerCase()).toContain("secure");
    expect(cookie.path).toBe(acme.path);
  }
  const body = new URLSearchParams({ do: "end_session", session: crypto.randomUUID() });
  const url = new URL(`${publicUrl}${acme.path}/account`);
  const forged = await browser.send(url, { method: "POST", body }, "https://evil.test").catch(() => null);
  expect(forged?.status).toBe(403);
  const silent = await fetch(`${node.url}${acme.path}/reset`, { method: "POST", body });
  expect(silent.status).toBe(403);
});

test("who is disabled or deleted loses sessions, refresh tokens, keys and memberships", async () => {
  const key = await node.call("POST", "/v1/api-keys", { name: "mine", scopes: ["agent:list"] }, mark.headers);
  expect(key.status).toBe(201);
  const refresh = { grant_type: "refresh_token", client_id: "svc-console", refresh_token: mark.tokens.refresh_token };
  const disabled = await node.call("PATCH", `/v1/people/${mark.id}`, { status: "disabled" }, olga.headers);
  expect(disabled).toMatchObject({ status: 200, body: { status: "disabled" } });
  expect((await acme.token(refresh)).status).toBe(400);
  expect((await mark.browser.open(`${acme.path}/account`)).html).toContain("Sign in");
  const byKey = as(String(key.body.api_key));
  await until(async () => (await node.call("GET", "/v1/agents", undefined, byKey)).status === 401);
  await acme.withPassword(mark.browser, "mark@acme.test", "Mark's own password");
  expect(mark.browser.shown?.html).toContain("Address and password do not fit");
  const enabled = await node.call("PATCH", `/v1/people/${mark.id}`, { status: "active" }, olga.headers);
  expect(enabled.body.status).toBe("active");
  mark = await tokenOf(acme, "mark@acme.test", "Mark's own password");

  const gone = await node.call("DELETE", `/v1/people/${mark.id}`, undefined, olga.headers);
  expect(gone).toMatchObject({ status: 200, body: { status: "deleted", id: mark.id } });
  await until(async () => (await node.call("GET", "/v1/agents", undefined, mark.headers)).status === 403);
  expect((await node.call("DELETE", `/v1/people/${mark.id}`, undefined, olga.headers)).status).toBe(404);
  expect((await acme.token({ ...refresh, refresh_token: mark.tokens.refresh_token })).status).toBe(400);
});

test("with a token from before their end the disabled and the deleted are given no key", async () => {
  const zoe = await joined("zoe@acme.test", "admin", "Zoe's very own password", olga.headers);
  const wanted = { name: "for later" };
  const made = async () => (await node.call("POST", "/v1/api-keys", wanted, zoe.headers)).status;
  expect(await made()).toBe(201);
  await node.call("PATCH", `/v1/people/${zoe.id}`, { status: "disabled" }, olga.headers);
  expect(await made()).toBe(401);
  const invited = await node.call("POST", "/v1/people", { email: "gone@svc.test", role: "admin" }, rooted);
  await stores.sql`update people set status = 'active' where id = ${invited.body.id}`;
  const key = await keyOfOperator(invited.body.id, "key:create");
  const child = async () => (await node.call("POST", "/v1/api-keys", wanted, key)).status;
  expect(await child()).toBe(201);
  expect((await node.call("DELETE", `/v1/people/${invited.body.id}`, undefined, rooted)).status).toBe(200);
  await until(async () => (await child()) === 401);
  const live = await stores.sql`
    select name from api_keys where revoked_at is null and user_id = any(${[zoe.id, invited.body.id]})`;
  expect([...live]).toEqual([]);
});

test("an operator whose role is lowered has no more by an API key either", async () => {
  const invited = await node.call("POST", "/v1/people", { email: "lowered@svc.test", role: "admin" }, rooted);
  const path = `/v1/people/${invited.body.id}`;
  const key = await keyOfOperator(invited.body.id, "tenant:provision");
  const renamed = async () =>
    (await node.call("PATCH", "/v1/admin/tenants/acme", { display_name: "Acme" }, key)).status;
  expect(await renamed()).toBe(200);
  expect((await node.call("PATCH", path, { role: "readonly" }, rooted)).body.role).toBe("readonly");
  await until(async () => (await renamed()) === 403);
  const [known] = await stores.sql`select role, token_iat > ${Math.floor(Date.now() / 1000) - 60} as is_new from users
    where realm = 'svc-system' and user_id = ${invited.body.id}`;
  expect(known).toEqual({ role: "readonly", is_new: true });
});

/** A key of an administrator, whose last token was issued an hour ago. */
async function keyOfOperator(id: string, scope: string): Promise<Record<string, string>> {
  const value = `svc_${keyDigest(`${id} ${scope}`).slice(0, 40)}`;
  const before = Math.floor(Date.now() / 1000) - 3600;
  await stores.sql`
    insert into users (realm, user_id, kind, role, token_iat) values ('svc-system', ${id}, 'operator', 'admin', ${before})
    on conflict (realm, user_id) do update set role = 'admin'`;
  await stores.sql`
    insert into api_keys (id, tenant, realm, user_id, kind, name, scopes, hash, prefix, last4, expires_at, created_at)
    values (${crypto.randomUUID()}, 'svc-system', 'svc-system', ${id}, 'operator', 'old', ${[scope]},
      ${keyDigest(value)}, 'svc_', 'last', now() + interval '30 days', now())`;
  return as(value);
}

test("signing out ends the session, after the person said so", async () => {
  const { browser } = await tokenOf(acme, "ada@acme.test", "Ada's very own password");
  await browser.open(`${acme.path}/protocol/openid-connect/logout`);
  expect(browser.shown?.html).toContain("Sign out?");
  await browser.submit({}, ["logout", "yes"]);
  expect(browser.shown?.html).toContain("You are signed out");
  expect((await browser.open(`${acme.path}/account`)).html).toContain("Sign in");
});
