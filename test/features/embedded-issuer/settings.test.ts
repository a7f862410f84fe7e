/** When the service is its own identity provider, what may stand beside it, and its keys (docs/reference/embedded-issuer.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createIssuerKeys, keyAgeMs } from "../../../src/features/embedded-issuer/provider/keys.ts";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import { readIdentity } from "../../../src/identity/open.ts";
import { readAuthSettings } from "../../../src/identity/settings.ts";
import { loadConfig } from "../../../src/node/config.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const embedded = { realms: "tenants", publicUrl: "https://svc.test" } as const;
const realm = (slug: string, kind: string, issuer_url = `https://id.test/${slug}`) => ({
  slug,
  kind,
  issuer_url,
  audience: "svc-orchestrator",
});
const problems = (auth: unknown, more: object = {}) =>
  readAuthSettings(auth, false, { ...embedded, ...more }).problems.join("\n");

test("beside it stands no other realm of operators, of consumers or of its names", () => {
  expect(problems({})).toBe("");
  expect(problems({ realms: [realm("people", "consumer"), realm("tenant-acme", "tenant")] })).toBe("");
  expect(problems({ realms: [realm("staff", "system")] })).toContain("a system realm beside");
  expect(problems({ realms: [realm("people", "consumer")] }, { realms: "consumers" })).toContain(
    "a consumer realm beside",
  );
  expect(problems({ realms: [realm("tenant-acme", "tenant", "https://svc.test/realms/tenant-acme")] })).toContain(
    "an issuer of the embedded provider",
  );
  expect(problems({ tenant_realm_template: realm("tenant-{slug}", "tenant", "https://id.test/{slug}") })).toContain(
    "tenant_realm_template",
  );
  expect(problems({}, { publicUrl: "http://svc.test" })).toContain("must be https");
  expect(problems({}, { publicUrl: "http://localhost:8080" })).toBe("");
});

test("secrets of machines are of the embedded provider, and must be set", () => {
  const account = { client_id: "web", secret: "env:WEB" };
  expect(readAuthSettings({ service_accounts: [account] }, true).problems.join()).toContain("SVC_ISSUER=embedded");
  expect(problems({ service_accounts: [{ client_id: "web", role: "admin" }] })).toContain("of a client with a secret");
  expect(problems({ service_accounts: [{ ...account, secret: "in clear" }] })).toContain("secret");
  const config = loadConfig({ SVC_MODE: "development", SVC_ISSUER: "embedded" });
  const read = (environment: (name: string) => string | undefined) =>
    readIdentity({ ...config, file: { auth: { service_accounts: [account] } }, environment }).problems.join();
  expect(read(() => undefined)).toContain("env:WEB of web is not set");
  expect(read(() => "secret")).toBe("");
});

test("settings that only mean something together are refused alone", () => {
  const load = (environment: Record<string, string>) => () => loadConfig({ SVC_MODE: "development", ...environment });
  const on = { SVC_ISSUER: "embedded" };
  expect(load({ SVC_ISSUER_SIGNUP: "true" })).toThrow("SVC_ISSUER=embedded");
  expect(load({ ...on, SVC_ISSUER_ADMIN_EMAIL: "a@b.test" })).toThrow("go together");
  expect(load({ ...on, SVC_ISSUER_SIGNUP: "true" })).toThrow("SVC_ISSUER_REALMS=consumers");
  expect(load({ ...on, SVC_ISSUER: "external" })).toThrow("SVC_ISSUER");
  expect(load(on)).not.toThrow();
});

test("a new key signs every 90 days, published before and after, encrypted at rest", async () => {
  let at = Date.UTC(2031, 0, 1);
  const options = {
    sql: stores.sql,
    encryption: createEncryption({
      current: masterKeyOf(Buffer.alloc(32, 1).toString("base64")),
      previous: null,
      incidents: { report: () => {} },
    }),
    now: () => at,
    newId: () => Bun.randomUUIDv7(),
  };
  const [one, other] = [createIssuerKeys(options), createIssuerKeys(options)];
  const [first, same] = await Promise.all([one.ring(), other.ring()]);
  expect(first.version).toBe(same.version);
  const kids = async () => (await createIssuerKeys(options).ring()).signing.map(({ kid }) => kid);
  const [kid] = await kids();
  expect(await kids()).toEqual([kid]);
  at += keyAgeMs - 30 * 60_000;
  await Promise.all([one.rotate(), other.rotate()]);
  const published = await kids();
  expect([published.length, published[0]]).toEqual([2, kid]);
  at += 60 * 60_000;
  const next = await kids();
  expect([next.length, next[1]]).toEqual([2, kid]);
  at += 2 * 24 * 3600_000;
  await one.rotate();
  expect(await kids()).toEqual([next[0]]);
  const rows = await stores.sql<{ ciphertext: string; public_jwk: object | null }[]>`select * from issuer_keys`;
  for (const { ciphertext, public_jwk } of rows) {
    expect(ciphertext).toStartWith("v1.");
    expect(Object.keys(public_jwk ?? {})).not.toContain("d");
  }
});
