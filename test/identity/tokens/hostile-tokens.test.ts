/** Tokens and keys of attackers, and providers in trouble (docs/reference/identity.md, Tokens). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import { createKeys, keyDigest } from "../../../src/identity/callers/api-keys.ts";
import { readAuthSettings } from "../../../src/identity/settings.ts";
import { createRealms } from "../../../src/identity/tokens/realms.ts";
import { createTokenVerifier } from "../../../src/identity/tokens/tokens.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { makeKey, sign, startIssuer, type TestIssuer, type TestKey } from "../issuer.ts";

let stores: TestStores;
let [first, second]: TestKey[] = [];
beforeAll(async () => {
  stores = await freshStores();
  [first, second] = await Promise.all([makeKey("ES256", "k1"), makeKey("ES256", "k2")]);
});
afterAll(() => stores?.dispose());

const leewaySeconds = 30;
const maxTokenHours = 24;
const start = Math.floor(Date.now() / 1000) * 1000;
const seconds = start / 1000;

function verifierOf(at: TestIssuer, clock = { now: start }) {
  const realm = { slug: "svc-system", kind: "system", issuer_url: at.issuer, jwks_uri: at.jwksUri };
  const { settings } = readAuthSettings({ realms: [{ ...realm, audience: "svc-orchestrator" }] }, true);
  if (!settings) throw new Error("settings");
  const now = () => clock.now;
  const tenantExists = async () => false;
  const realms = createRealms({ settings, development: null, tenantExists, now });
  const verifier = createTokenVerifier({
    realms,
    leewaySeconds,
    maxTokenHours,
    tenantExists,
    members: null,
    saw: () => {},
    now,
  });
  return (token: string): Promise<string> =>
    verifier.verify(token).then(
      () => "accepted",
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
}
const tokenOf = (at: TestIssuer, key: TestKey | undefined, claims: object = {}, header: Record<string, unknown> = {}) =>
  sign(key as TestKey, { iss: at.issuer, svc_role: "admin", iat: seconds, exp: seconds + 300, ...claims }, header);

test("a kid that is a path, a URL or a query is looked up, and nothing more", async () => {
  const at = startIssuer([(first as TestKey).publicJwk]);
  const asked: string[] = [];
  const elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      asked.push(url);
      return Response.json({ keys: [(second as TestKey).publicJwk] });
    },
  });
  const verify = verifierOf(at);
  expect(await verify(await tokenOf(at, first))).toBe("accepted");
  const kids = [
    "../../../../dev/null",
    "/etc/passwd",
    "file:///etc/passwd",
    `${elsewhere.url}keys`,
    "k1' or '1'='1",
    "__proto__",
    "constructor",
    "k1\0",
    "x".repeat(8000),
  ];
  for (const kid of kids) {
    expect([kid.slice(0, 40), await verify(await tokenOf(at, second, {}, { kid }))]).toEqual([
      kid.slice(0, 40),
      "invalid_token",
    ]);
  }
  // Nor does a header that brings a key or says where one is.
  for (const header of [
    { jku: `${elsewhere.url}keys` },
    { x5u: `${elsewhere.url}x` },
    { jwk: (second as TestKey).publicJwk },
  ])
    expect(await verify(await tokenOf(at, second, {}, header))).toBe("invalid_token");
  expect(asked).toEqual([]);
  await Promise.all([at.stop(), elsewhere.stop(true)]);
});

test.each<[string, object, string]>([
  ["ended 29 s ago", { exp: seconds - 29, iat: seconds - 60 }, "accepted"],
  ["ended 31 s ago", { exp: seconds - 31, iat: seconds - 60 }, "token_expired"],
  ["begins in 29 s", { nbf: seconds + 29 }, "accepted"],
  ["begins in 31 s", { nbf: seconds + 31 }, "invalid_token"],
  ["was issued in 29 s", { iat: seconds + 29 }, "accepted"],
  ["was issued in 31 s", { iat: seconds + 31 }, "invalid_token"],
  ["says its times as text", { iat: String(seconds) }, "invalid_token"],
  ["ends in the year 300,000", { exp: 1e13 }, "invalid_token"],
  ["ends before it was issued", { exp: seconds + 10, iat: seconds + 20 }, "accepted"],
])("with clocks that differ, a token that %s", async (_, claims, expected) => {
  const at = startIssuer([(first as TestKey).publicJwk]);
  expect(await verifierOf(at)(await tokenOf(at, first, claims))).toBe(expected);
  await at.stop();
});

test("keys rotated under load: what a published key signed is accepted", async () => {
  const at = startIssuer([(first as TestKey).publicJwk]);
  const verify = verifierOf(at);
  const outcomes = new Map<string, number>();
  const round = async (keys: readonly (TestKey | undefined)[]) => {
    const tokens = await Promise.all(
      keys.flatMap((key) =>
        Array.from({ length: 40 }, (_, sub) => tokenOf(at, key, { sub: `s${sub}-${crypto.randomUUID()}` })),
      ),
    );
    for (const outcome of await Promise.all(tokens.map(verify)))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  };
  await round([first]);
  // The provider shows the new key beside the old one, signs with it, and takes the old one away later.
  at.published = [(first as TestKey).publicJwk, (second as TestKey).publicJwk];
  await round([second, first]);
  await round([first, second]);
  at.published = [(second as TestKey).publicJwk];
  await round([second]);
  expect(Object.fromEntries(outcomes)).toEqual({ accepted: 240 });
  expect(at.fetches()).toBeLessThanOrEqual(2);
  await at.stop();
});

test("with the provider down known keys serve, then 503, until it is back", async () => {
  const clock = { now: start };
  const at = startIssuer([(first as TestKey).publicJwk]);
  const verify = verifierOf(at, clock);
  const fresh = () => {
    const now = clock.now / 1000;
    return tokenOf(at, first, { iat: now, exp: now + 300, sub: crypto.randomUUID() });
  };
  expect(await verify(await fresh())).toBe("accepted");
  const keys = at.published;
  await at.stop();
  for (const passed of [60, 299, 301, 3_800]) {
    clock.now = start + passed * 1000;
    expect([passed, await verify(await fresh())]).toEqual([passed, "accepted"]);
  }
  clock.now = start + 4_000_000;
  expect(await verify(await fresh())).toBe("identity_provider_unavailable");
  const port = Number(new URL(at.issuer).port);
  const back = Bun.serve({ port, hostname: "127.0.0.1", fetch: () => Response.json({ keys }) });
  clock.now += 30_000;
  expect(await verify(await fresh())).toBe("accepted");
  await back.stop(true);
});

test("unknown, ended and expired keys cost the same queries and get one answer", async () => {
  let queries = 0;
  const sql = new Proxy(stores.sql, {
    apply: (target, self, args) => {
      queries++;
      return Reflect.apply(target, self, args);
    },
  });
  const value = (name: string) => `svc_${keyDigest(name).slice(0, 40)}`;
  for (const name of ["revoked", "expired"]) {
    await stores.sql`
      insert into api_keys (id, tenant, realm, user_id, kind, name, scopes, hash, prefix, last4, created_at, revoked_at,
        expires_at)
      values (gen_random_uuid(), 'u-ann', 'svc-consumer', 'ann', 'consumer', 'k', '{}', ${keyDigest(value(name))}, 'p',
        'l', now(), ${name === "revoked" ? new Date() : null}, ${name === "expired" ? new Date(start) : null})`;
  }
  const keys = createKeys({
    sql,
    members: { find: async () => null },
    isListed: () => false,
    notices: null,
    now: () => start,
  });
  const refusals = new Set<string>();
  const costs: number[] = [];
  for (const name of ["unknown", "revoked", "expired", "unknown", "revoked", "expired"]) {
    const before = queries;
    await keys.identify(value(name)).catch((error: unknown) => {
      const { code, message, extras, headers } = error as Problem;
      refusals.add(JSON.stringify([code, message, extras, headers]));
    });
    costs.push(queries - before);
  }
  expect(refusals.size).toBe(1);
  expect(costs).toEqual([1, 1, 1, 0, 0, 0]);
});
