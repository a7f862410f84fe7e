/** Consents by redirect, their refresh and their end, against a provider on loopback (docs/reference/credentials.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Attempts } from "../../../src/features/credentials/oauth/attempts.ts";
import type { Refreshing } from "../../../src/features/credentials/oauth/refresh.ts";
import type { Incident } from "../../../src/features/incidents/service.ts";
import { OAuthServer } from "../../harness/outside/oauth-server.ts";
import { until } from "../../harness/until.ts";
import type { Caller, CredentialFixture } from "./fixture.ts";
import { openOAuth } from "./oauth-fixture.ts";

let at: CredentialFixture;
let provider: OAuthServer;
let ann: Caller;
let bob: Caller;
/** What two nodes would do every few seconds, done at once. */
let nodes: readonly Refreshing[];
let attempts: Attempts;
const reported: Incident[] = [];
beforeAll(async () => {
  provider = new OAuthServer();
  ({ at, nodes, attempts } = await openOAuth(provider, reported));
  ann = await at.bearer({ username: "ann", email: "ann@acme.test", role: "tenant:member" }, "tenant-acme");
  bob = await at.member("bob");
});
afterAll(async () => {
  await at?.close();
  provider?.stop();
});

const callback = "/oauth/callback";
const begun = async (who = ann, body: Record<string, unknown> = {}) => {
  const answer = await at.call(who, "POST", "/oauth/initiate", { provider: "crm", ...body });
  expect([answer.status, answer.body.code]).toEqual([200, undefined]);
  return answer.body as { auth_url: string; state: string; credential_id: string; expires_at: string };
};
const code = async (answer: ReturnType<CredentialFixture["call"]>) => {
  const { status, body } = await answer;
  return [status, body?.code ?? null];
};
const completed = async (who = ann, body: Record<string, unknown> = {}) => {
  const { auth_url, state } = await begun(who, body);
  const answer = await at.call(who, "POST", callback, { code: provider.consent(auth_url), state });
  expect([answer.status, answer.body.code]).toEqual([200, undefined]);
  return answer.body.id as string;
};
const record = async (id: string, who = ann) => (await at.call(who, "GET", `/${id}`)).body;
const visit = (path: string, init: RequestInit = {}) => fetch(`${at.node.url}/v1/credentials${path}`, init);
const query = (fields: Record<string, string>) => `${callback}?${new URLSearchParams(fields)}`;
const stateHash = (state: string) => createHash("sha256").update(state).digest("hex");
/** Of whichever node came first: the one that serves the tests refreshes as well. */
async function expiredWithIncident(id: string): Promise<void> {
  await until(async () => (await record(id)).status === "expired");
  await until(async () => {
    const { body } = await at.node.call("GET", "/v1/security/incidents", undefined, ann);
    const all: readonly Pick<Incident, "details" | "category">[] = [...reported, ...body.items];
    return all.filter(({ details }) => details.credential_id === id).length === 1;
  });
}

describe("a consent", () => {
  test("the URL has an S256 challenge, the scopes and the callback; the credential waits", async () => {
    const body = await begun(ann, { scopes: ["read", "write:all"], label: "work" });
    const { searchParams, origin } = new URL(body.auth_url);
    expect(origin).toBe(provider.url);
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: "code",
      client_id: "svc",
      redirect_uri: expect.stringMatching(/\/v1\/credentials\/oauth\/callback$/),
      scope: "read write:all",
      state: expect.stringMatching(/^[0-9a-f]{64}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(body).toMatchObject({ authorization_url: body.auth_url, state_token: body.state });
    const pending = await record(body.credential_id);
    expect(pending).toMatchObject({ status: "pending_oauth", credential_type: "oauth2", label: "work" });
    expect(await code(at.call(ann, "POST", `/${body.credential_id}/rotate`))).toEqual([409, "invalid_state"]);
    expect(await at.dump()).not.toContain(body.state);
  });

  test("its state works once; a foreign user's POST and a second use are refused", async () => {
    const { auth_url, state, credential_id } = await begun();
    const fields = { code: provider.consent(auth_url), state };
    expect(await code(at.call(bob, "POST", callback, fields))).toEqual([400, "invalid_state"]);
    const answer = await at.call(ann, "POST", callback, fields);
    expect(answer.body).toEqual({ id: credential_id, credential_id, status: "active", provider: "crm", stored: true });
    expect(await code(at.call(ann, "POST", callback, fields))).toEqual([400, "invalid_state"]);
    expect(await code(at.call(ann, "POST", callback, { ...fields, state: "0".repeat(64) }))).toEqual([
      400,
      "invalid_state",
    ]);
    const shown = await record(credential_id);
    expect(shown).toMatchObject({ status: "active", scopes: ["read"], expires_at: null, version: 1 });
    const told = (
      await at.node.call("GET", `/v1/audit?target_id=${credential_id}`, undefined, await at.member("o", "tenant:admin"))
    ).body;
    expect(told.items.map(({ action }: { action: string }) => action)).toEqual(["credential.created"]);
    const dump = await at.dump();
    for (const token of provider.given) expect([dump, at.node.output].join().includes(token)).toBe(false);
  });

  test("of two completions at once one stores tokens", async () => {
    const { auth_url, state } = await begun();
    const fields = { code: provider.consent(auth_url), state };
    const answers = await Promise.all([1, 2, 3].map(() => at.call(ann, "POST", callback, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  });

  test("after 10 minutes its state has expired and the credential is gone", async () => {
    const { auth_url, state, credential_id } = await begun();
    await at.sql`update oauth_attempts set expires_at = now() - interval '1 s' where hash = ${stateHash(state)}`;
    const fields = { code: provider.consent(auth_url), state };
    expect(await code(at.call(ann, "POST", callback, fields))).toEqual([410, "state_expired"]);
    expect((await visit(query(fields))).status).toBe(410);
    await attempts.sweep();
    expect((await at.call(ann, "GET", `/${credential_id}`)).status).toBe(404);
    expect(await code(at.call(ann, "POST", callback, fields))).toEqual([410, "state_expired"]);
  });

  test("the provider's refusal uses the state up", async () => {
    const { auth_url, state, credential_id } = await begun();
    expect(await code(at.call(ann, "POST", callback, { error: "access_denied", state }))).toEqual([
      400,
      "oauth_denied",
    ]);
    const fields = { code: provider.consent(auth_url), state };
    expect(await code(at.call(ann, "POST", callback, fields))).toEqual([400, "invalid_state"]);
    expect((await at.call(ann, "GET", `/${credential_id}`)).status).toBe(404);
  });

  test("another issuer than the provider's is refused; the right one passes", async () => {
    const { auth_url, state } = await begun();
    const fields = { code: provider.consent(auth_url), state };
    const foreign = { ...fields, iss: "https://evil.test" };
    expect(await code(at.call(ann, "POST", callback, foreign))).toEqual([400, "invalid_state"]);
    expect((await at.call(ann, "POST", callback, { ...fields, iss: "https://crm.test" })).status).toBe(200);
  });

  test("a code that the provider refuses is 502 and leaves nothing", async () => {
    const { state, credential_id } = await begun();
    const fields = { code: "wrong", state };
    expect(await code(at.call(ann, "POST", callback, fields))).toEqual([502, "oauth_exchange_failed"]);
    expect((await at.call(ann, "GET", `/${credential_id}`)).status).toBe(404);
  });

  test("redirects are those configured, on this machine at any port", async () => {
    const good = ["http://127.0.0.1:51234/done", "https://app.test/cb"];
    const bad = [
      "http://127.0.0.1:51234/other",
      "https://app.test/cb/x",
      "https://app.test:444/cb",
      "https://evil.test/cb",
    ];
    for (const redirect_uri of good) {
      const { auth_url } = await begun(ann, { redirect_uri });
      expect(new URL(auth_url).searchParams.get("redirect_uri")).toBe(redirect_uri);
    }
    for (const redirect_uri of bad) {
      const answer = at.call(ann, "POST", "/oauth/initiate", { provider: "crm", redirect_uri });
      expect(await code(answer)).toEqual([422, "redirect_uri_not_allowed"]);
    }
    const unknown = at.call(ann, "POST", "/oauth/initiate", { provider: "none" });
    expect(await code(unknown)).toEqual([501, "provider_not_configured"]);
  });
});

describe("the callback of a browser", () => {
  test("GET without a token stores nothing, names initiator and tenant; its form does", async () => {
    const { auth_url, state, credential_id } = await begun();
    const fields = { code: provider.consent(auth_url), state };
    const asked = provider.asked.length;
    for (let round = 0; round < 2; round++) {
      const page = await visit(query(fields));
      const text = await page.text();
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      for (const part of ["crm", "ann@acme.test", "acme", '<form method="post"']) expect(text).toContain(part);
    }
    expect([provider.asked.length, (await record(credential_id)).status]).toEqual([asked, "pending_oauth"]);
    const form = { method: "POST", body: new URLSearchParams(fields) };
    const done = await visit(callback, form);
    expect([done.status, done.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect((await record(credential_id)).status).toBe("active");
    expect((await visit(callback, form)).status).toBe(400);
    expect(at.node.output).not.toContain(state);
  });

  test("GET with a token completes; an invalid one is 401, one without the scope 403", async () => {
    const { auth_url, state, credential_id } = await begun();
    const path = query({ code: provider.consent(auth_url), state });
    expect((await visit(path, { headers: { Authorization: "Bearer x.y.z" } })).status).toBe(401);
    const reader = await at.bearer(
      { grant_type: "password", username: "readonly", password: "dev", client_id: "", client_secret: "" },
      "svc-system",
    );
    expect((await visit(path, { headers: reader })).status).toBe(403);
    expect((await visit(path, { headers: bob })).status).toBe(400);
    const done = await visit(path, { headers: ann });
    expect([done.status, ((await done.json()) as { id: string }).id]).toEqual([200, credential_id]);
  });

  test("JSON without a token is 401", async () => {
    const { auth_url, state } = await begun();
    const body = JSON.stringify({ code: provider.consent(auth_url), state });
    const answer = await visit(callback, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    expect(answer.status).toBe(401);
  });

  test("what is no state is refused alike", async () => {
    for (const state of ["", "x", "0".repeat(64), "%00", "a".repeat(200)]) {
      const answer = await visit(query({ code: "c", state }));
      expect([state, answer.status]).toEqual([state, 400]);
    }
    expect((await visit(query({ code: "c", state: "x".repeat(10_000) }))).status).toBe(422);
  });
});

describe("tokens", () => {
  test("are refreshed five minutes before they end, of two nodes by one", async () => {
    const id = await completed();
    const before = provider.asked.length;
    await at.sql`update credentials set refresh_due_at = now() where id = ${id}`;
    await Promise.all(nodes.map((node) => node.round()));
    await until(async () => (await record(id)).version === 2);
    expect(provider.asked.slice(before)).toEqual(["refresh_token"]);
    const [row] = await at.sql`
      select extract(epoch from token_expires_at - refresh_due_at)::int as ahead, refresh_by from credentials where id = ${id}`;
    expect(row).toEqual({ ahead: 300, refresh_by: null });
  });

  test("rotated at the same time they are refreshed once", async () => {
    const id = await completed();
    let open = () => {};
    provider.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const before = provider.asked.filter((type) => type === "refresh_token").length;
    const rotations = [1, 2, 3].map(() => at.call(ann, "POST", `/${id}/rotate`));
    await until(() => provider.asked.filter((type) => type === "refresh_token").length > before);
    open();
    const answers = await Promise.all(rotations);
    expect(answers.map(({ status, body }) => [status, body.version, body.rotated])).toEqual(
      [1, 2, 3].map(() => [200, 2, true]),
    );
    expect(provider.asked.filter((type) => type === "refresh_token").length).toBe(before + 1);
  });

  test("that are refused expire with an incident; a new consent revives them", async () => {
    const id = await completed(ann, { label: "revived" });
    provider.refuses = "invalid_grant";
    await at.sql`update credentials set refresh_due_at = now() where id = ${id}`;
    // Many that find it due and come to it one after the other.
    await Promise.all(Array.from({ length: 20 }, (_, index) => nodes[index % 2]?.round()));
    await expiredWithIncident(id);
    expect(await code(at.call(ann, "POST", `/${id}/rotate`))).toEqual([502, "oauth_exchange_failed"]);
    provider.refuses = null;
    expect(await completed(ann, { label: "revived" })).toBe(id);
    expect(await record(id)).toMatchObject({ status: "active", version: 2 });
  });

  test("of a provider that is out of order stay as they are and are tried again", async () => {
    const id = await completed();
    provider.refuses = "down";
    expect(await code(at.call(ann, "POST", `/${id}/rotate`))).toEqual([502, "oauth_exchange_failed"]);
    expect((await record(id)).status).toBe("active");
    const [row] = await at.sql`select refresh_due_at > now() as later from credentials where id = ${id}`;
    expect(row?.later).toBe(true);
    provider.refuses = null;
    expect((await at.call(ann, "POST", `/${id}/rotate`)).body.version).toBe(2);
  });

  test("that nothing can refresh end with their time, with an incident", async () => {
    provider.givesRefreshTokens = false;
    const id = await completed();
    provider.givesRefreshTokens = true;
    expect((await record(id)).expires_at).toEqual(expect.any(String));
    expect(await code(at.call(ann, "POST", `/${id}/rotate`))).toEqual([409, "invalid_state"]);
    await at.sql`update credentials set expires_at = now() where id = ${id}`;
    await Promise.all(nodes.map((node) => node.expire()));
    await expiredWithIncident(id);
  });

  test("of a revoked credential are revoked at the provider and erased here", async () => {
    const id = await completed();
    const refreshToken = provider.given.at(-1) ?? "";
    await at.call(ann, "DELETE", `/${id}`);
    await until(() => provider.revoked.includes(refreshToken));
    expect(await at.sql`select ciphertext from credentials where id = ${id}`).toEqual([{ ciphertext: null }] as never);
  });

  test("are not taken from a caller", async () => {
    const id = await completed();
    expect(await code(at.call(ann, "POST", `/${id}/rotate`, { new_value: "x" }))).toEqual([422, "validation_failed"]);
  });
});

describe("a consent with another device", () => {
  const polled = (device_code: string, who = ann, path = "/oauth/device/poll") =>
    at.call(who, "POST", path, { device_code, provider: "crm" });
  const device = async (path = "/oauth/device/initiate") => {
    const { status, body } = await at.call(ann, "POST", path, { provider: "crm", label: "device" });
    expect([status, body.code]).toEqual([200, undefined]);
    return body as { device_code: string };
  };
  /** The interval has passed. */
  const waited = (code: string) =>
    at.sql`update oauth_attempts set next_poll_at = now() where hash = ${stateHash(code)}`;
  const hashes = () => provider.asked.filter((type) => type.includes("device_code")).length;

  test("asks the provider at most once an interval, and ends with the credential", async () => {
    provider.device = "authorization_pending";
    const begun = await device();
    expect(begun).toEqual({
      device_code: expect.stringMatching(/^[0-9a-f]{64}$/),
      user_code: "ABCD-EFGH",
      verification_uri: `${provider.url}/activate`,
      verification_uri_complete: null,
      interval: 1,
      expires_at: expect.any(String),
    } as never);
    const { device_code: code } = begun;
    const pending = { status: "pending", credential_id: null, interval: 1, reason: null };
    const asked = hashes();
    await at.sql`update oauth_attempts set next_poll_at = now() + interval '1 hour' where hash = ${stateHash(code)}`;
    expect((await polled(code)).body).toEqual(pending);
    expect(hashes()).toBe(asked);
    await waited(code);
    expect((await polled(code, ann, "/device/poll")).body).toEqual(pending);
    expect(hashes()).toBe(asked + 1);
    provider.device = "slow_down";
    await waited(code);
    expect((await polled(code)).body).toEqual({ ...pending, interval: 6 });
    provider.device = "approved";
    await waited(code);
    const done = (await polled(code)).body;
    expect(done).toEqual({ status: "approved", credential_id: expect.any(String), interval: 6, reason: null });
    expect((await polled(code)).body).toEqual(done);
    expect(await record(done.credential_id)).toMatchObject({ status: "active", label: "device" });
    const dump = await at.dump();
    for (const text of [code, "provider-device-code"]) expect(dump.includes(text)).toBe(false);
  });

  test("another user's code is unknown; a provider without a device flow comes first", async () => {
    const { device_code } = await device("/device/initiate");
    expect(await code(polled(device_code, bob))).toEqual([404, "device_code_not_found"]);
    expect(await code(polled("0".repeat(64)))).toEqual([404, "device_code_not_found"]);
    for (const name of ["none", "plain"]) {
      const answer = at.call(ann, "POST", "/device/poll", { device_code, provider: name });
      expect(await code(answer)).toEqual([501, "oauth_not_configured"]);
    }
  });

  test.each(["access_denied", "expired_token"] as const)("%s is its end, told again and again", async (word) => {
    const { device_code } = await device();
    const reason = word === "access_denied" ? "denied" : "expired";
    provider.device = word;
    await waited(device_code);
    for (let round = 0; round < 3; round++) {
      const { body } = await polled(device_code);
      expect(body).toEqual({ status: "denied", credential_id: null, interval: 1, reason });
    }
    provider.device = "approved";
    expect((await polled(device_code)).body.status).toBe("denied");
  });

  test("a code that is too old is denied as expired, and its credential gone", async () => {
    const { device_code } = await device();
    const [{ credential_id }] = (await at.sql`
      update oauth_attempts set expires_at = now() where hash = ${stateHash(device_code)} returning credential_id`) as [
      { credential_id: string },
    ];
    for (let round = 0; round < 2; round++) {
      expect((await polled(device_code)).body).toMatchObject({ status: "denied", reason: "expired" });
    }
    expect((await at.call(ann, "GET", `/${credential_id}`)).status).toBe(404);
  });
});
