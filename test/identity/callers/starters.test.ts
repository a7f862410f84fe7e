/** Starters as they stand now: what their key, their membership and their newest token say (docs/reference/management-tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Starter } from "../../../actors/identity/starter.ts";
import { createKeys, keyDigest } from "../../../src/identity/callers/api-keys.ts";
import { createMembers } from "../../../src/identity/callers/members.ts";
import { createStarters } from "../../../src/identity/callers/starters.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let now = Date.now();
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

function open() {
  const shared = { sql: stores.sql, notices: null, now: () => now };
  const isListed = (client: string) => client === "listed";
  const members = createMembers({ ...shared, defaultRole: "member" });
  return createStarters({ ...shared, members, isListed, keys: createKeys({ ...shared, members, isListed }) });
}

const ann: Starter = {
  realm: "tenant-acme",
  kind: "tenant_user",
  sub: "ann",
  role: null,
  membership: "owner",
  key_id: null,
};

test("a member who becomes less loses scopes within 5 s, one who is removed all", async () => {
  const starters = open();
  await stores.sql`insert into tenant_members (tenant, realm, user_id, role) values ('acme', 'tenant-acme', 'ann', 'admin')`;
  const before = await starters.identityOf(ann, "acme");
  expect(before).toMatchObject({ membership: "admin", homeTenant: "acme", userId: "ann" });
  expect(before?.scopes.has("secret:read")).toBeTrue();
  await stores.sql`update tenant_members set role = 'member' where user_id = 'ann'`;
  now += 5_000;
  expect((await starters.identityOf(ann, "acme"))?.scopes.has("secret:read")).toBeFalse();
  await stores.sql`update tenant_members set status = 'revoked' where user_id = 'ann'`;
  now += 5_000;
  expect(await starters.identityOf(ann, "acme")).toBeNull();
  expect(await starters.identityOf(ann, "other")).toBeNull();
});

test("a person of the platform has the role of the newest token, not the captured one", async () => {
  const starters = open();
  const olga: Starter = { ...ann, realm: "svc-system", kind: "operator", sub: "olga", role: "admin", membership: null };
  expect((await starters.identityOf(olga, "acme"))?.scopes.has("tenant:provision")).toBeTrue();
  await stores.sql`
    insert into users (realm, user_id, kind, role, token_iat) values ('svc-system', 'olga', 'operator', 'readonly', 1)`;
  now += 5_000;
  const later = await starters.identityOf(olga, "acme");
  expect(later).toMatchObject({ role: "readonly" });
  expect(later?.scopes.has("agent:execute")).toBeFalse();
  await stores.sql`update users set role = null where user_id = 'olga'`;
  now += 5_000;
  expect((await starters.identityOf(olga, "acme"))?.scopes.size).toBe(0);
});

test("a starter with an API key acts as long as the key lives, with its scopes", async () => {
  const starters = open();
  const id = crypto.randomUUID();
  await stores.sql`
    insert into api_keys (id, tenant, realm, user_id, kind, name, scopes, hash, prefix, last4, created_at)
    values (${id}, 'u-kim', 'svc-consumer', 'kim', 'consumer', 'k', ${["agent:list", "agent:read"]},
      ${keyDigest("kim")}, 'svc_', 'last', now())`;
  const kim: Starter = { ...ann, realm: "svc-consumer", kind: "consumer", sub: "kim", membership: null, key_id: id };
  const acting = await starters.identityOf(kim, "u-kim");
  expect(acting).toMatchObject({ keyId: id, userId: "kim", homeTenant: "u-kim" });
  expect([...(acting?.scopes ?? [])].sort()).toEqual(["agent:list", "agent:read"]);
  expect(await starters.identityOf({ ...kim, sub: "eve" }, "u-kim")).toBeNull();
  await stores.sql`update api_keys set revoked_at = now() where id = ${id}`;
  now += 5_000;
  expect(await starters.identityOf(kim, "u-kim")).toBeNull();
});

test("a guard that knows of a person's end takes every scope", async () => {
  const starters = open();
  let isThere = true;
  starters.guardedBy(async ({ sub }) => sub !== "lee" || isThere);
  const lee: Starter = { ...ann, realm: "svc-consumer", kind: "consumer", sub: "lee", membership: null };
  expect((await starters.identityOf(lee, "u-lee"))?.scopes.has("agent:execute")).toBeTrue();
  isThere = false;
  now += 5_000;
  expect(await starters.identityOf(lee, "u-lee")).toBeNull();
});
