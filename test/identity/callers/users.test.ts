/** People and machines as their newest token told of them (docs/reference/identity.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { consumerTenant } from "../../../actors/identity/tenant.ts";
import { createUsers, type Seen } from "../../../src/identity/callers/users.ts";
import { identityOf } from "../../harness/callers.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores?.dispose());

const stored = () =>
  stores.sql`select realm, user_id, email, role, token_iat::int as iat from users order by realm, user_id`.then(
    (rows) => rows.map(({ realm, user_id, email, role, iat }) => [realm, user_id, email, role, iat]),
  );
const seen = (tenant: string, facts: Partial<Seen>): Seen => ({
  ...identityOf(tenant, { userId: "ann" }),
  name: null,
  claimed: null,
  ...facts,
});
const ann = (facts: Partial<Seen>) => seen("svc-system", { kind: "operator", realm: "svc-system", ...facts });

test("the newest token counts, whichever node sees which one first", async () => {
  const [here, there] = [createUsers(stores.sql), createUsers(stores.sql)];
  here.saw(ann({ role: "admin", issuedAt: 100 }));
  here.saw(ann({ role: "readonly", issuedAt: 300, email: "ann@example.test" }));
  there.saw(ann({ role: "operator", issuedAt: 200 }));
  there.saw(ann({ role: "admin", issuedAt: null }));
  there.saw(seen("acme", { kind: "tenant_user", realm: "tenant-acme", issuedAt: 50 }));
  const expected = [
    ["svc-system", "ann", "ann@example.test", "readonly", 300],
    ["tenant-acme", "ann", null, null, 50],
  ];
  await until(async () => (await stored()).length === 2 && Bun.deepEquals(await stored(), expected));
  here.saw(ann({ role: "admin", issuedAt: 250 }));
  here.saw(ann({ role: "operator", issuedAt: 400 }));
  await until(async () => (await stored())[0]?.at(-1) === 400);
  expect((await stored())[0]).toEqual(["svc-system", "ann", null, "operator", 400]);
});

test("what the database would refuse of one person keeps no other from being written", async () => {
  const users = createUsers(stores.sql);
  users.saw(ann({ userId: "half \ud800", issuedAt: 10 }));
  users.saw(ann({ userId: "odd address", email: "a\0b", issuedAt: 10 }));
  users.saw(ann({ userId: "beside", issuedAt: 10 }));
  await until(async () => (await stored()).length === 4);
  expect((await stored()).slice(1, 3)).toEqual([
    ["svc-system", "beside", null, null, 10],
    ["svc-system", "odd address", null, null, 10],
  ]);
});

test("a purge takes the people of the tenant's realm, or a consumer tenant's owner", async () => {
  const users = createUsers(stores.sql);
  const of = (realm: string, kind: Seen["kind"], userId: string) =>
    users.saw(seen("x", { realm, kind, userId, issuedAt: 9 }));
  const odd = "someone@example.test";
  of("tenant-gone", "tenant_user", "bob");
  of("tenant-stays", "tenant_user", "bob");
  of("people", "consumer", "0190F3C2-6d1e-7a55-9c1f-2f6d0c5b8e11");
  of("people", "consumer", odd);
  of("people", "consumer", "carl");
  const left = async () => (await stored()).filter(([, , , , iat]) => iat === 9).map(([realm, id]) => `${realm} ${id}`);
  await until(async () => (await left()).length === 5);
  const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
  for (const tenant of [
    "gone",
    consumerTenant("0190F3C2-6d1e-7a55-9c1f-2f6d0c5b8e11", sha256),
    consumerTenant(odd, sha256),
  ])
    await users.forgetOf(tenant);
  expect(await left()).toEqual(["people carl", "tenant-stays bob"]);
});

test("nothing is written of the people of a deleted tenant, which no purge would erase", async () => {
  await stores.sql`
    insert into tenants (slug, kind, display_name, status, deleted_at, purge_at)
    values ('erased', 'enterprise', 'e', 'deleted', now(), now())`;
  const users = createUsers(stores.sql);
  users.saw(seen("erased", { realm: "tenant-erased", kind: "tenant_user", userId: "bob", issuedAt: 20 }));
  // Another person of the same statement is written.
  users.saw(seen("lives", { realm: "tenant-lives", kind: "tenant_user", userId: "bob", issuedAt: 20 }));
  const realms = async () => (await stored()).filter(([, , , , iat]) => iat === 20).map(([realm]) => realm);
  await until(async () => (await realms()).includes("tenant-lives"));
  expect(await realms()).toEqual(["tenant-lives"]);
});

test("a database that is away fails no request", async () => {
  const users = createUsers(stores.sql);
  await stores.sql`alter table users rename to users_away`;
  users.saw(ann({ userId: "later", issuedAt: 10 }));
  // The statement is under way by now: the next one waits for its end.
  await until(async () => {
    await stores.sql`alter table if exists users_away rename to users`;
    users.saw(ann({ userId: "later", issuedAt: 10 }));
    return (await stored()).some(([, id]) => id === "later");
  });
});
