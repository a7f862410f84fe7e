/** Members of tenants (docs/reference/identity.md): the first user owns the tenant, and one alone does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Membership } from "../../actors/identity/identity.ts";
import { createMembers } from "../../src/identity/members.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

let stores: TestStores;
let now = Date.now();
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const members = (defaultRole: "admin" | "member" = "admin") =>
  createMembers({ sql: stores.sql, defaultRole, now: () => now });
const user = (tenant: string, userId: string) => ({ realm: `tenant-${tenant}`, userId, homeTenant: tenant });
const owners = async (tenant: string) =>
  (await stores.sql`select user_id from tenant_members where tenant = ${tenant} and role = 'owner'`).map(
    ({ user_id }) => user_id,
  );

test.each<[string, "admin" | "member", readonly (readonly [string, Membership | null, Membership])[]]>([
  [
    "the first user is the owner, later ones are what the default says",
    "member",
    [
      ["ann", null, "owner"],
      ["bob", null, "member"],
      ["ann", null, "owner"],
    ],
  ],
  [
    "a claim makes no second owner, and leaves the owner the owner",
    "admin",
    [
      ["ann", null, "owner"],
      ["bob", "owner", "admin"],
      ["ann", "member", "owner"],
      ["bob", null, "admin"],
      ["bob", "member", "member"],
    ],
  ],
  [
    "a first user whose token claims another role owns nothing; the claim of an owner is taken while there is none",
    "admin",
    [
      ["ann", "member", "member"],
      ["ann", "owner", "owner"],
      ["bob", null, "admin"],
    ],
  ],
])("%s", async (name, defaultRole, steps) => {
  const tenant = `t${Bun.hash(name)}`;
  const known = members(defaultRole);
  for (const [userId, claimed, expected] of steps) {
    now += 3_000;
    expect([userId, claimed, await known.roleOf(user(tenant, userId), claimed)]).toEqual([userId, claimed, expected]);
  }
});

test("of users who come at once on several nodes one becomes the owner", async () => {
  const nodes = [members(), members(), members()];
  const roles = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      nodes[index % 3]?.roleOf(user("busy", `user-${index % 10}`), index % 2 === 0 ? null : "owner"),
    ),
  );
  const [owner, ...others] = await owners("busy");
  expect([typeof owner, others]).toEqual(["string", []]);
  now += 3_000;
  for (let index = 0; index < 10; index++) {
    const role = await members().roleOf(user("busy", `user-${index}`), null);
    expect(role).toBe(owner === `user-${index}` ? "owner" : "admin");
  }
  expect(new Set(roles)).toEqual(new Set(["owner", "admin"]));
});

test("the same subject of another tenant is another member", async () => {
  const known = members();
  await known.roleOf(user("one", "ann"), null);
  await known.roleOf(user("two", "eve"), null);
  expect(await known.roleOf(user("two", "ann"), null)).toBe("admin");
  expect([await owners("one"), await owners("two")]).toEqual([["ann"], ["eve"]]);
});
