/** Hostile and unlucky tokens, each with its exact answer (docs/reference/identity.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { exportSPKI, importJWK, type JWK } from "jose";
import { Problem } from "../../../actors/kernel/problem.ts";
import { defineRoute } from "../../../src/http/route.ts";
import { readAuthSettings } from "../../../src/identity/settings.ts";
import { fetchJwks } from "../../../src/identity/tokens/keys.ts";
import { createRealms } from "../../../src/identity/tokens/realms.ts";
import { createTokenVerifier } from "../../../src/identity/tokens/tokens.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { type OpenApp, openApp, openTestIdentity } from "../../http/open-app.ts";
import { parseAnswer, rawRequest } from "../../http/raw.ts";
import { compact, makeKey, sign, startIssuer, type TestIssuer, type TestKey } from "../issuer.ts";

const machine = { preferred_username: "service-account-web", client_id: "web" };
const listed = [{ client_id: "web", tenants: ["globex"] }];
let rsa: TestKey;
let ec: TestKey;
let ed: TestKey;
let issuer: TestIssuer;
let consumers: TestIssuer;
let stores: TestStores;
let app: OpenApp;

const whoAmI = defineRoute({
  method: "GET",
  path: "/v1/who",
  summary: "The caller",
  scope: "agent:list",
  responses: { 200: Type.Any() },
  handler: ({ identity, tenant }) => ({ kind: identity.kind, role: identity.role, user: identity.userId, tenant }),
});

const realm = (slug: string, kind: string, at: TestIssuer) => ({
  slug,
  kind,
  issuer_url: at.issuer,
  jwks_uri: at.jwksUri,
  audience: ["other", "svc-orchestrator"],
});

beforeAll(async () => {
  [rsa, ec, ed] = await Promise.all([makeKey("RS256", "r1"), makeKey("ES256", "e1"), makeKey("EdDSA", "d1")]);
  issuer = startIssuer([rsa.publicJwk, ec.publicJwk, ed.publicJwk]);
  // The same kid as in the other realm, for another key.
  consumers = startIssuer([(await makeKey("RS256", "r1")).publicJwk]);
  stores = await freshStores();
  const { authenticator } = openTestIdentity({
    sql: stores.sql,
    auth: {
      realms: [realm("svc-system", "system", issuer), realm("people", "consumer", consumers)],
      service_accounts: listed,
    },
    limitFailures: true,
  });
  app = openApp({ routes: [whoAmI], authenticator });
});
afterAll(async () => {
  await app?.stop();
  await issuer?.stop();
  await consumers?.stop();
  await stores?.dispose();
});

async function ask(token: string | null, headers: Record<string, string> = {}) {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${app.url}/v1/who`, { headers: { ...authorization, ...headers } });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, challenge: response.headers.get("www-authenticate"), response };
}

const good = (claims: object = {}, header: Record<string, unknown> = {}, key = rsa) =>
  sign(key, { iss: issuer.issuer, ...machine, ...claims }, header);

test("RS256, ES256 and EdDSA are accepted", async () => {
  for (const key of [rsa, ec, ed]) {
    const { status, body } = await ask(await good({}, {}, key));
    expect([key.alg, status, body]).toEqual([
      key.alg,
      200,
      { kind: "service_account", role: null, user: "someone", tenant: "svc-system" },
    ]);
  }
});

const seconds = () => Math.floor(Date.now() / 1000);
const refused: Record<string, () => string | Promise<string>> = {
  garbage: () => "abc",
  "three empty parts": () => "e30.e30.e30",
  "wrong issuer": () => good({ iss: `${issuer.issuer}/` }),
  "no issuer": () => good({ iss: undefined }),
  "wrong audience": () => good({ aud: "newUser-else" }),
  "no audience": () => good({ aud: undefined }),
  "alg none": () => compact({ alg: "none", kid: "r1" }, { iss: issuer.issuer, ...machine, aud: "svc-orchestrator" }),
  "alg none with a signature": () =>
    compact({ alg: "none", kid: "r1" }, { iss: issuer.issuer, ...machine, aud: "svc-orchestrator" }, "AAAA"),
  "HS256 signed with the public key": async () => {
    const now = seconds();
    const unsigned = compact(
      { alg: "HS256", kid: "r1", typ: "JWT" },
      { iss: issuer.issuer, ...machine, aud: "svc-orchestrator", sub: "s", iat: now, exp: now + 60 },
    ).slice(0, -1);
    const pem = await exportSPKI((await importJWK(rsa.publicJwk as JWK, "RS256")) as CryptoKey);
    return `${unsigned}.${createHmac("sha256", pem).update(unsigned).digest("base64url")}`;
  },
  "missing kid": () => good({}, { kid: undefined }),
  "unknown kid": () => good({}, { kid: "nobody" }),
  "a kid of another algorithm": () => good({}, { kid: "e1" }),
  "another realm's key of the same kid": () => sign(rsa, { iss: consumers.issuer }),
  "a critical header": () => good({}, { crit: ["b64"], b64: true }),
  "another typ": () => good({}, { typ: "logout+jwt" }),
  "not yet valid": () => good({ nbf: seconds() + 120 }),
  "issued in the future": () => good({ iat: seconds() + 120 }),
  "no iat": () => good({ iat: undefined }),
  "no exp": () => good({ exp: undefined }),
  "no sub": () => good({ sub: undefined }),
  "an empty sub": () => good({ sub: "" }),
  "a sub too long": () => good({ sub: "x".repeat(256) }),
  "a sub with a NUL": () => good({ sub: "a\0b" }),
  "a sub of half a character": () => good({ sub: "a\ud800" }),
  "an ID token": () => good({ typ: "ID" }),
  "a refresh token": () => good({ typ: "Refresh" }),
  "another use": () => good({ token_use: "id" }),
  "a lifetime of 25 hours": () => good({ iat: seconds(), exp: seconds() + 25 * 3600 }),
  "a changed payload": async () => {
    const [head, , signature] = (await good()).split(".");
    const now = seconds();
    const claims = { iss: issuer.issuer, ...machine, aud: "svc-orchestrator", sub: "root", iat: now, exp: now + 60 };
    return `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
  },
};

test.each(Object.keys(refused))("refused as invalid_token: %s", async (name) => {
  const { status, body, challenge } = await ask((await refused[name]?.()) ?? "");
  expect([status, body.code, challenge]).toEqual([401, "invalid_token", 'Bearer error="invalid_token"']);
  expect(body.error).toBe("The token is not valid");
  expect(Object.keys(body)).toEqual(["error", "code", "request_id"]);
});

test("what says that it is an access token of up to a day is accepted", async () => {
  for (const claims of [{ typ: "Bearer" }, { token_use: "access" }, { iat: seconds(), exp: seconds() + 24 * 3600 }])
    expect((await ask(await good(claims))).status).toBe(200);
});

test("expired is told apart, and only when all else holds", async () => {
  const expired = { iat: seconds() - 600, exp: seconds() - 31 };
  expect((await ask(await good(expired))).body.code).toBe("token_expired");
  expect((await ask(await good({ ...expired, aud: "other-than-ours" }))).body.code).toBe("invalid_token");
  expect((await ask(await good({ iat: seconds() - 600, exp: seconds() - 20 }))).status).toBe(200);
});

test.each([
  [null, {}, "missing_authorization", "Bearer"],
  [null, { authorization: "Basic YTpi" }, "invalid_authorization_header", "Bearer"],
  [null, { authorization: "Bearer" }, "invalid_authorization_header", "Bearer"],
  [null, { authorization: "Bearer a b" }, "invalid_authorization_header", "Bearer"],
  [null, { authorization: "Bearer a, Bearer b" }, "invalid_authorization_header", "Bearer"],
  [null, { authorization: `Bearer ${"x".repeat(16 * 1024 + 1)}` }, "invalid_authorization_header", "Bearer"],
  [null, { "x-api-key": "svc_0123" }, "missing_authorization", "Bearer"],
  ["svc_0123456789012345678901234567890123456789", {}, "invalid_api_key", 'Bearer error="invalid_token"'],
] as const)("credential %# is answered by the table of failures", async (token, headers, code, challenge) => {
  const answer = await ask(token, headers);
  expect([answer.status, answer.body.code, answer.challenge]).toEqual([401, code, challenge]);
});

test.each(["Authorization", "X-Tenant-Id"])("%s sent twice is refused", async (name) => {
  const token = await good();
  const twice = name === "Authorization" ? `Authorization: Bearer ${token}` : "X-Tenant-Id: acme\r\nX-Tenant-Id: acme";
  const head = `GET /v1/who HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${twice}\r\n\r\n`;
  const { status, body } = parseAnswer(await rawRequest(app.port, [head]));
  expect([status, body.code]).toEqual(
    name === "Authorization" ? [401, "invalid_authorization_header"] : [400, "invalid_tenant_slug"],
  );
});

test("the scheme name may be written in any case, with spaces after it", async () => {
  const token = await good();
  for (const authorization of [`bearer ${token}`, `BEARER   ${token}`]) {
    expect((await ask(null, { authorization })).status).toBe(200);
  }
});

test("people of the system realm need a role", async () => {
  const person = { preferred_username: "ann", client_id: undefined };
  expect((await ask(await good(person))).body.code).toBe("identity_not_recognized");
  expect((await ask(await good({ ...person, svc_role: "aegis:readonly" }))).body.role).toBe("readonly");
});

test("service accounts act in other tenants only where their client is listed for them", async () => {
  const other = { preferred_username: "service-account-batch", client_id: "batch" };
  const at = async (claims: object, tenant: string) => {
    const { status, body } = await ask(await good(claims), tenant === "" ? {} : { "X-Tenant-Id": tenant });
    return status === 200 ? body.tenant : body.code;
  };
  expect(await at({}, "globex")).toBe("globex");
  expect(await at({}, "acme")).toBe("tenant_delegation_forbidden");
  expect(await at({ ...other, svc_role: "admin" }, "globex")).toBe("tenant_delegation_forbidden");
  expect(await at({ ...other, svc_role: "admin" }, "")).toBe("svc-system");
  expect(await at(other, "globex")).toBe("identity_not_recognized");
  expect((await stores.sql`select 1 from tenants where slug = 'acme'`).count).toBe(0);
});

test("more than 300 failures a minute from one address are 429; good tokens pass", async () => {
  const codes = new Set<unknown>();
  for (let i = 0; i < 310; i += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("abc")));
    for (const { status, body, response } of answers) {
      codes.add(body.code);
      if (status === 429) expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
  }
  expect(codes).toEqual(new Set(["invalid_token", "rate_limited"]));
  expect((await ask(await good())).status).toBe(200);
});

test("the probe tells whether the realms' keys can be had", async () => {
  const at = startIssuer([rsa.publicJwk]);
  let now = Date.now();
  const { probe } = openTestIdentity({ sql: stores.sql, auth: { realms: [realm("x", "system", at)] }, now: () => now });
  await probe?.();
  await at.stop();
  await probe?.();
  now += 4_000_000;
  expect(probe?.()).rejects.toMatchObject({ code: "identity_provider_unavailable" });
  expect(openTestIdentity({ sql: stores.sql }).probe).toBeNull();
});

describe("the key set", () => {
  test("is asked for uncompressed, refused when compressed unasked, cut at its bound", async () => {
    const asked: (string | null)[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        asked.push(request.headers.get("accept-encoding"));
        const { pathname } = new URL(request.url);
        const headers = { "Content-Encoding": pathname === "/br" ? "br" : "gzip" };
        const keys = Buffer.from('{"keys": [');
        if (pathname === "/br") return new Response(brotliCompressSync(keys), { headers });
        return new Response(gzipSync(Buffer.concat([keys, Buffer.alloc(50_000_000, " ")])), { headers });
      },
    });
    const failure = (path: string) => fetchJwks(new URL(path, server.url).href).then(String, String);
    expect(await failure("/br")).toContain("compressed in a way that was not asked for");
    expect(await failure("/gzip")).toContain("larger than 262144 bytes");
    expect(asked).toEqual(["identity", "identity"]);
    await server.stop(true);
  });

  test("a provider that says nothing, or never ends what it says, is given up", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        url.endsWith("/slow")
          ? new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))
          : new Promise<Response>(() => {}),
    });
    const given = (path: string) =>
      fetchJwks(new URL(path, server.url).href, { headMs: 100, totalMs: 300 }).then(String, () => "given up");
    expect(await Promise.all([given("/silent"), given("/slow")])).toEqual(["given up", "given up"]);
    await server.stop(true);
  });

  let now = Date.now();
  function verifierFor(at: TestIssuer) {
    const auth = { realms: [realm("svc-system", "system", at)], service_accounts: listed };
    const { settings } = readAuthSettings(auth, true);
    if (!settings) throw new Error("settings");
    const realms = createRealms({ settings, development: null, tenantExists: async () => false, now: () => now });
    return createTokenVerifier({
      realms,
      leewaySeconds: 30,
      maxTokenHours: 24,
      tenantExists: async () => false,
      members: null,
      saw: () => {},
      now: () => now,
    });
  }
  const tokenOf = (at: TestIssuer, key: TestKey, claims: object = {}) =>
    sign(key, { iss: at.issuer, ...machine, exp: Math.floor(now / 1000) + 80_000, ...claims });
  const codeOf = (verification: Promise<unknown>) =>
    verification.then(
      () => "accepted",
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );

  test("a configured realm has one issuer, also beside the template", async () => {
    const [own, other] = [startIssuer([rsa.publicJwk], "/acme"), startIssuer([rsa.publicJwk], "/acme")];
    const template = { ...realm("tenant-{slug}", "tenant", other), issuer_url: other.issuer.replace("acme", "{slug}") };
    const { settings } = readAuthSettings(
      { realms: [realm("tenant-acme", "tenant", own)], tenant_realm_template: template },
      true,
    );
    if (!settings) throw new Error("settings");
    const realms = createRealms({ settings, development: null, tenantExists: async () => true, now: () => now });
    expect((await realms.byIssuer(own.issuer))?.rules.realm).toBe("tenant-acme");
    expect(await realms.byIssuer(other.issuer)).toBe(null);
    expect((await realms.byIssuer(other.issuer.replace("acme", "globex")))?.rules.realm).toBe("tenant-globex");
    await Promise.all([own.stop(), other.stop()]);
  });

  test("after a rotation the first token under the new key passes, old ones do not", async () => {
    const at = startIssuer([rsa.publicJwk]);
    const verifier = verifierFor(at);
    const old = await tokenOf(at, rsa);
    expect(await codeOf(verifier.verify(old))).toBe("accepted");
    expect(await codeOf(verifier.verify(old))).toBe("accepted");
    expect(at.fetches()).toBe(1);
    at.published = [ec.publicJwk];
    expect(await codeOf(verifier.verify(await tokenOf(at, ec)))).toBe("accepted");
    expect(at.fetches()).toBe(2);
    expect(await codeOf(verifier.verify(old))).toBe("invalid_token");
    await at.stop();
  });

  test("unknown kids fetch at most once in 10 s", async () => {
    const at = startIssuer([rsa.publicJwk]);
    const verifier = verifierFor(at);
    for (let i = 0; i < 5; i++) {
      const tokens = await Promise.all(Array.from({ length: 5 }, () => tokenOf(at, ed)));
      expect(new Set(await Promise.all(tokens.map((token) => codeOf(verifier.verify(token)))))).toEqual(
        new Set(["invalid_token"]),
      );
    }
    expect(at.fetches()).toBe(2);
    now += 10_000;
    at.published = [ed.publicJwk];
    expect(await codeOf(verifier.verify(await tokenOf(at, ed)))).toBe("accepted");
    await at.stop();
  });

  test("cached keys serve while the provider is away, one hour past expiry; then 503", async () => {
    const at = startIssuer([rsa.publicJwk]);
    const verifier = verifierFor(at);
    const token = await tokenOf(at, rsa);
    expect(await codeOf(verifier.verify(token))).toBe("accepted");
    await at.stop();
    now += 3_800_000;
    expect(await codeOf(verifier.verify(token))).toBe("accepted");
    expect(await codeOf(verifier.verify(await tokenOf(at, rsa, { sub: "another" })))).toBe("accepted");
    now += 200_000;
    expect(await codeOf(verifier.verify(token))).toBe("identity_provider_unavailable");
  });

  test("a realm never fetched answers 503 with Retry-After", async () => {
    const at = startIssuer([]);
    await at.stop();
    const refusal = await verifierFor(at)
      .verify(await tokenOf(at, rsa))
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "identity_provider_unavailable",
      status: 503,
      headers: { "Retry-After": "5" },
    });
  });

  test("weak, misused and oversized keys do not count", async () => {
    const weak = await makeKey("RS256", "weak", 1024).catch(() => null);
    const encrypting = { ...ec.publicJwk, use: "enc" };
    const conflicting = { ...ed.publicJwk, alg: "ES256" };
    const at = startIssuer([encrypting, conflicting, ...(weak ? [weak.publicJwk] : [])]);
    const verifier = verifierFor(at);
    for (const key of [ec, ed]) expect(await codeOf(verifier.verify(await tokenOf(at, key)))).toBe("invalid_token");
    await at.stop();
    const huge = startIssuer([{ ...rsa.publicJwk, padding: "x".repeat(300 * 1024) } as JWK]);
    expect(await codeOf(verifierFor(huge).verify(await tokenOf(huge, rsa)))).toBe("identity_provider_unavailable");
    await huge.stop();
  });
});

test.each([
  [{ realms: [] }, false, "no realm is configured"],
  [
    { realms: [{ slug: "x", kind: "tenant", issuer_url: "https://i/x", audience: "a" }] },
    false,
    "tenant-<tenant slug>",
  ],
  [
    { realms: [{ slug: "x", kind: "system", issuer_url: "http://i.example/x", audience: "a" }] },
    false,
    "must be https",
  ],
  [{ realms: [{ slug: "x", kind: "system", issuer_url: "https://i/x" }] }, false, "auth.realms.0.audience"],
  [
    { realms: ["a", "b"].map((slug) => ({ slug, kind: "system", issuer_url: `https://i/${slug}`, audience: "a" })) },
    true,
    "more than one system realm",
  ],
])("settings %# are refused with a clear word", (auth, development, word) => {
  const { settings, problems } = readAuthSettings(auth, development);
  expect(settings).toBeNull();
  expect(problems.join("\n")).toContain(word);
});
