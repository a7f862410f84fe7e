/** Members of tenants (docs/reference/identity.md): the first user owns the tenant, and one alone does. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Membership } from "../../../actors/identity/identity.ts";
import { createMembers } from "../../../src/identity/callers/members.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
let now = Date.now();
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const members = (defaultRole: "admin" | "member" = "admin") =>
  createMembers({ sql: stores.sql, defaultRole, now: () => now });
const user = (tenant: string, userId: string, email: string | null = null) => ({
  realm: `tenant-${tenant}`,
  userId,
  homeTenant: tenant,
  email,
});
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

test("the address a tenant was made for owns it, and only while there is no owner", async () => {
  const tenant = "named";
  await stores.sql`
    insert into tenants (slug, kind, display_name, owner_email) values (${tenant}, 'enterprise', 'n', 'Ann@Acme.test')`;
  const known = members("member");
  const asked = async (userId: string, email: string | null, claimed: Membership | null = null) => {
    now += 3_000;
    return known.roleOf(user(tenant, userId, email), claimed);
  };
  // The first user, an unproven address and an address that only looks alike are no owners.
  expect(await asked("bob", "bob@acme.test")).toBe("member");
  expect(await asked("eve", null)).toBe("member");
  expect(await asked("ann", "ann@acme.TEST")).toBe("owner");
  expect(await asked("second", "ann@acme.test")).toBe("member");
  expect(await asked("claims", "c@acme.test", "owner")).toBe("admin");
  expect(await owners(tenant)).toEqual(["ann"]);
  // Named later, a member becomes the owner of a tenant that has none.
  await stores.sql.begin((tx) => known.change(tx, tenant, user(tenant, "ann"), "admin"));
  await stores.sql`update tenants set owner_email = 'bob@acme.test' where slug = ${tenant}`;
  expect([await asked("bob", "bob@acme.test"), await owners(tenant)]).toEqual(["owner", ["bob"]]);
});

test("a revoked member with any role claim stays out until invited again", async () => {
  const tenant = "gone";
  const known = members();
  const accepted: string[] = [];
  const pending = new Map([["bob@acme.test", "member" as const]]);
  known.invitedBy({
    async accept(_, slug, address, { userId }) {
      const role = pending.get(address) ?? null;
      if (role !== null) accepted.push(`${slug} ${address} ${userId}`);
      pending.delete(address);
      return role;
    },
  });
  await known.roleOf(user(tenant, "ann"), null);
  const bob = user(tenant, "bob", "bob@acme.test");
  expect(await known.roleOf(bob, null)).toBe("member");
  expect(await known.find(tenant, bob)).toBe("member");
  await stores.sql.begin((tx) => known.revoke(tx, tenant, bob));
  known.changed(tenant);
  expect(await known.find(tenant, bob)).toBe(null);
  for (const claimed of [null, "admin", "owner"] as const)
    await expect(known.roleOf(bob, claimed)).rejects.toMatchObject({ code: "membership_revoked" });
  pending.set("bob@acme.test", "member");
  // An address that the provider does not vouch for matches no invitation.
  await expect(known.roleOf({ ...bob, email: null }, null)).rejects.toMatchObject({ code: "membership_revoked" });
  now += 3_000;
  expect(await known.roleOf(bob, null)).toBe("member");
  expect(accepted).toEqual(["gone bob@acme.test bob", "gone bob@acme.test bob"]);
});

test("an owner whose membership ends leaves the tenant to the next one", async () => {
  const known = members();
  await known.roleOf(user("left", "ann"), null);
  await known.roleOf(user("left", "bob"), null);
  await stores.sql.begin((tx) => known.revoke(tx, "left", user("left", "ann")));
  known.changed("left");
  await expect(known.roleOf(user("left", "ann"), "owner")).rejects.toMatchObject({ code: "membership_revoked" });
  expect(await known.roleOf(user("left", "bob"), "owner")).toBe("owner");
  expect(await owners("left")).toEqual(["bob"]);
});

test("of a deleted tenant's users nothing is stored, which no purge would erase", async () => {
  await stores.sql`
    insert into tenants (slug, kind, display_name, status, deleted_at, purge_at, purged_at, owner_email)
    values ('erased', 'enterprise', 'e', 'deleted', now(), now(), now(), 'ann@acme.test')`;
  const known = members();
  const accepted: string[] = [];
  known.invitedBy({
    async accept(_, slug) {
      accepted.push(slug);
      return "member";
    },
  });
  for (const claimed of [null, "owner", "member"] as const)
    await known.roleOf(user("erased", "ann", "ann@acme.test"), claimed);
  const rows = await stores.sql`select user_id from tenant_members where tenant = 'erased'`;
  expect([[...rows], accepted]).toEqual([[], []]);
});
