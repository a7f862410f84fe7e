/** API keys as callers (docs/reference/identity.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Identity } from "../../../actors/identity/identity.ts";
import { createKeys, keyDigest } from "../../../src/identity/callers/api-keys.ts";
import { createMembers } from "../../../src/identity/callers/members.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let now = Date.now();
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const open = () => {
  const members = createMembers({ sql: stores.sql, defaultRole: "admin", now: () => now });
  const keys = createKeys({
    sql: stores.sql,
    members,
    isListed: (client) => client === "listed",
    notices: null,
    now: () => now,
  });
  return { members, keys };
};
const keyValue = (name: string) => `svc_${keyDigest(name).slice(0, 40)}`;
interface Stored extends Partial<Pick<Identity, "kind" | "realm" | "userId" | "clientId">> {
  readonly tenant: string;
  readonly scopes?: readonly string[];
  readonly parent?: string | null;
  readonly previous?: string;
  readonly previousUntil?: number;
  readonly until?: number;
}
/** @returns the id */
async function store(name: string, { tenant, scopes = ["agent:list"], parent = null, ...facts }: Stored) {
  const id = crypto.randomUUID();
  const { kind = "consumer", realm = "svc-consumer", userId = "ann", clientId = null } = facts;
  const date = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
  await stores.sql`
    insert into api_keys (id, tenant, realm, user_id, kind, client_id, name, scopes, hash, prefix, last4, parent_id,
      previous_hash, previous_expires_at, expires_at, created_at)
    values (${id}, ${tenant}, ${realm}, ${userId}, ${kind}, ${clientId}, ${name}, ${[...scopes]},
      ${keyDigest(keyValue(name))}, 'svc_', 'last', ${parent},
      ${facts.previous === undefined ? null : keyDigest(keyValue(facts.previous))}, ${date(facts.previousUntil)},
      ${date(facts.until)}, now())`;
  return id;
}
const sees = (role: string | null, facts: { realm?: string; userId: string; memberRole?: string; iat?: number }) =>
  stores.sql`
    insert into users (realm, user_id, kind, role, member_role, token_iat)
    values (${facts.realm ?? "svc-system"}, ${facts.userId}, 'operator', ${role}, ${facts.memberRole ?? null},
      ${facts.iat ?? 1})
    on conflict (realm, user_id) do update set role = excluded.role, member_role = excluded.member_role`;

test("a key speaks for its owner in its tenant, with its own scopes at most", async () => {
  const id = await store("plain", { tenant: "u-ann", scopes: ["volume:write", "secret:read", "node:read"] });
  const identity = await open().keys.identify(keyValue("plain"));
  expect(identity).toMatchObject({
    kind: "consumer",
    realm: "svc-consumer",
    userId: "ann",
    homeTenant: "u-ann",
    keyId: id,
  });
  // A consumer has no secrets and no nodes; writing brings reading.
  expect([...identity.scopes].sort()).toEqual(["volume:read", "volume:write"]);
});

test.each([
  ["nothing like a key", "svc_short"],
  ["41 characters", `${keyValue("long")}x`],
  ["a character that no key has", `svc_${"_".repeat(40)}`],
  ["a value that was never given", keyValue("never")],
  ["a key that expired", keyValue("expired")],
  ["a key that was revoked", keyValue("revoked")],
  ["a former value after its grace", keyValue("former")],
])("%s is refused as any other", async (_, value) => {
  if (value === keyValue("expired")) await store("expired", { tenant: "u-ann", until: now });
  if (value === keyValue("former")) await store("later", { tenant: "u-ann", previous: "former", previousUntil: now });
  if (value === keyValue("revoked")) {
    const id = await store("revoked", { tenant: "u-ann" });
    await stores.sql.begin((tx) => open().keys.revoke(tx, "u-ann", id));
  }
  await expect(open().keys.identify(value)).rejects.toMatchObject({
    code: "invalid_api_key",
    message: "The API key is not valid",
  });
});

test("within its grace the former value opens beside the new one, and no longer", async () => {
  const { keys } = open();
  await store("new", { tenant: "u-ann", previous: "old", previousUntil: now + 60_000 });
  const ids = await Promise.all(["old", "new"].map(async (name) => (await keys.identify(keyValue(name))).keyId));
  expect(new Set(ids).size).toBe(1);
  now += 60_000;
  await expect(keys.identify(keyValue("old"))).rejects.toMatchObject({ code: "invalid_api_key" });
  expect((await keys.identify(keyValue("new"))).keyId).toBe(ids[1] ?? "");
});

test("a child ends with its parent, at every depth and nothing beside it", async () => {
  const { keys } = open();
  const root = await store("root", { tenant: "acme" });
  const child = await store("child", { tenant: "acme", parent: root });
  const grandchild = await store("grandchild", { tenant: "acme", parent: child });
  await store("beside", { tenant: "acme" });
  // Another tenant's id ends nothing.
  expect(await stores.sql.begin((tx) => keys.revoke(tx, "other", root))).toEqual([]);
  const ended = await stores.sql.begin((tx) => keys.revoke(tx, "acme", root));
  expect(ended).toEqual([root, child, grandchild]);
  for (const name of ["root", "child", "grandchild"])
    await expect(keys.identify(keyValue(name))).rejects.toMatchObject({ code: "invalid_api_key" });
  expect((await keys.identify(keyValue("beside"))).homeTenant).toBe("acme");
});

test("with a role that its owner lost the scopes of a key go", async () => {
  const { keys } = open();
  const system = { tenant: "svc-system", realm: "svc-system", kind: "operator" } as const;
  await store("operators", { ...system, userId: "olga", scopes: ["agent:deploy", "agent:list", "tenant:list"] });
  const scopes = async () => {
    now += 3_000;
    return [...(await keys.identify(keyValue("operators"))).scopes].sort();
  };
  await sees("admin", { userId: "olga" });
  expect(await scopes()).toEqual(["agent:deploy", "agent:list", "tenant:list"]);
  await sees("readonly", { userId: "olga" });
  expect(await scopes()).toEqual(["agent:list", "tenant:list"]);
  await sees(null, { userId: "olga" });
  expect(await scopes()).toEqual([]);
  await store("machine", { ...system, kind: "service_account", userId: "m", clientId: "listed" });
  await store("stranger", { ...system, kind: "service_account", userId: "s", clientId: "unlisted" });
  expect((await keys.identify(keyValue("machine"))).scopes.size).toBe(1);
  expect((await keys.identify(keyValue("stranger"))).scopes.size).toBe(0);
});

test("a machine's key speaks for it in a team, of which it is no member", async () => {
  const tenant = "t-7d0d3c5e-24d5-4a0b-9f0e-6f6a4c1d2b3a";
  await store("sent", { tenant, realm: "svc-system", kind: "service_account", userId: "web", clientId: "listed" });
  const { membership, scopes } = await open().keys.identify(keyValue("sent"));
  expect([membership, [...scopes]]).toEqual([null, ["agent:list"]]);
});

test("a key has what its owner's membership gives now, and ends with it", async () => {
  const { keys, members } = open();
  const mine = { tenant: "club", realm: "tenant-club", kind: "tenant_user", scopes: ["*"] } as const;
  await store("member", { ...mine, userId: "bob", scopes: ["secret:read", "agent:list"] });
  const bob = { realm: "tenant-club", userId: "bob" };
  const scopes = async () => [...(await keys.identify(keyValue("member"))).scopes].sort();
  await stores.sql.begin((tx) => members.admit(tx, "club", bob, "admin"));
  expect(await scopes()).toEqual(["agent:list", "secret:read"]);
  await sees(null, { realm: "tenant-club", userId: "bob", memberRole: "member" });
  now += 3_000;
  expect(await scopes()).toEqual(["agent:list"]);
  await stores.sql.begin((tx) => members.revoke(tx, "club", bob));
  members.changed("club");
  await expect(scopes()).rejects.toMatchObject({ code: "membership_revoked" });
});

test("the keys of a person in a tenant are ended together, and no other's", async () => {
  const { keys } = open();
  const tenants = { tenant: "crew", realm: "tenant-crew", kind: "operator" } as const;
  await store("crew-1", { ...tenants, userId: "bob" });
  const other = await store("crew-2", { ...tenants, userId: "bob", realm: "other" });
  const third = await store("crew-3", { ...tenants, userId: "ann" });
  const ended = await stores.sql.begin((tx) =>
    keys.revokeOf(tx, { tenant: "crew", realm: "tenant-crew", userId: "bob" }),
  );
  expect(ended.length).toBe(1);
  expect((await stores.sql.begin((tx) => keys.revokeOf(tx, { tenant: "crew" }))).toSorted()).toEqual(
    [other, third].toSorted(),
  );
});

test("a cached key costs no query, and is read anew after 3 s or a notice", async () => {
  let heard: ((key: string | null) => void) | null = null;
  let queries = 0;
  const sql = new Proxy(stores.sql, {
    apply: (target, self, args) => {
      queries++;
      return Reflect.apply(target, self, args);
    },
  });
  const keys = createKeys({
    sql,
    members: { find: async () => null },
    isListed: () => true,
    notices: {
      on: (_, listener) => {
        heard = listener;
        return () => {};
      },
      tell: (_, key) => heard?.(key),
    },
    now: () => now,
  });
  const id = await store("cached", { tenant: "u-ann" });
  await Promise.all(Array.from({ length: 20 }, () => keys.identify(keyValue("cached"))));
  await until(async () => queries === 2, { what: "the reading and the note of the use" });
  for (let i = 0; i < 1000; i++) await keys.identify(keyValue("cached"));
  expect(queries).toBe(2);
  await stores.sql`update api_keys set revoked_at = now() where id = ${id}`;
  expect((await keys.identify(keyValue("cached"))).keyId).toBe(id);
  keys.changed([id]);
  await expect(keys.identify(keyValue("cached"))).rejects.toMatchObject({ code: "invalid_api_key" });
  const after = queries;
  for (let i = 0; i < 100; i++) await keys.identify(keyValue("cached")).catch(() => {});
  expect(queries).toBe(after);
  await store("lost", { tenant: "u-ann" });
  await keys.identify(keyValue("lost"));
  await stores.sql`update api_keys set revoked_at = now() where name = 'lost'`;
  now += 3_000;
  await expect(keys.identify(keyValue("lost"))).rejects.toMatchObject({ code: "invalid_api_key" });
});

test("the use of a key is noted at most once a minute", async () => {
  const { keys } = open();
  now = Date.now();
  await store("used", { tenant: "u-ann" });
  const usedAt = async () => {
    const [row] = await stores.sql<{ at: Date | null }[]>`select last_used_at as at from api_keys where name = 'used'`;
    return row?.at?.getTime() ?? null;
  };
  await keys.identify(keyValue("used"));
  await until(async () => (await usedAt()) !== null);
  const first = await usedAt();
  now += 30_000;
  await keys.identify(keyValue("used"));
  await stores.sql`update api_keys set last_used_at = last_used_at - interval '2 minutes' where name = 'used'`;
  now += 31_000;
  await keys.identify(keyValue("used"));
  await until(async () => ((await usedAt()) ?? 0) >= (first ?? 0));
});
