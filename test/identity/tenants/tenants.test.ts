/** Tenants as nodes know them (docs/reference/identity.md): state, tier and quotas, and how fast a change is seen. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createTenants } from "../../../src/identity/tenants/tenants.ts";
import { openNotices } from "../../../src/store/redis/notices.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let here: ReturnType<typeof openNotices>;
let there: ReturnType<typeof openNotices>;
beforeAll(async () => {
  stores = await freshStores();
  here = openNotices(stores.redisUrl, stores.prefix);
  there = openNotices(stores.redisUrl, stores.prefix);
});
afterAll(async () => {
  here?.close();
  there?.close();
  await stores?.dispose();
});

const frozen = Date.now();
const suspend = (slug: string) => stores.sql`update tenants set status = 'suspended' where slug = ${slug}`;

test("another node sees a change of state by the notice, with its clock standing still", async () => {
  const changing = createTenants(stores.sql, () => frozen, here);
  const watching = createTenants(stores.sql, () => frozen, there);
  await changing.ensure("noticed");
  // A notice is heard only once the subscription is there: then it takes what is remembered away again and again.
  await until(async () => {
    await stores.sql`update tenants set status = 'active' where slug = 'noticed'`;
    changing.changed("noticed");
    expect(await changing.status("noticed")).toBe("active");
    await watching.status("noticed");
    await suspend("noticed");
    changing.changed("noticed");
    expect(await changing.status("noticed")).toBe("suspended");
    for (let look = 0; look < 20; look++) {
      if ((await watching.status("noticed")) === "suspended") return true;
      await Bun.sleep(10);
    }
    return false;
  });
});

test("without any notice a change is seen once what is remembered is 3 s old", async () => {
  let now = frozen;
  const tenants = createTenants(stores.sql, () => now);
  await tenants.ensure("unnoticed");
  await suspend("unnoticed");
  expect(await tenants.status("unnoticed")).toBe("active");
  now += 3_000;
  expect(await tenants.status("unnoticed")).toBe("suspended");
});

test("what was read before a notice came is not remembered after it", async () => {
  const tenants = createTenants(stores.sql, () => frozen, here);
  await tenants.ensure("raced");
  tenants.changed("raced");
  const reading = tenants.status("raced");
  here.tell("tenant", "raced");
  await reading;
  await suspend("raced");
  expect(await tenants.status("raced")).toBe("suspended");
});

test("quotas are those set for the tenant, else those of its tier", async () => {
  const tenants = createTenants(stores.sql, () => frozen);
  await stores.sql`
    insert into tenants (slug, kind, display_name, admin_tier, max_agents, max_storage_gb)
    values ('acme', 'enterprise', 'acme', 'pro', 0, -1)`;
  expect(await tenants.find("acme")).toMatchObject({
    kind: "enterprise",
    standing: { tier: "pro", source: "admin" },
    quotas: { maxConcurrentExecutions: 10, maxAgents: 0, maxStorageGb: -1 },
    isPurged: false,
  });
  expect(await tenants.find("svc-system")).toMatchObject({
    standing: { tier: "system", source: "default" },
    quotas: { maxConcurrentExecutions: -1, maxAgents: -1, maxStorageGb: -1 },
  });
  expect(await tenants.find("unheard-of")).toBeNull();
});

test("the newest token of a consumer sets the claimed tier, an older one nothing", async () => {
  const tenants = createTenants(stores.sql, () => frozen);
  await tenants.ensure("u-ann");
  const tierAfter = async (tier: "pro" | "business" | null, iat: number) => {
    await tenants.claimTier("u-ann", tier, iat);
    return (await tenants.find("u-ann"))?.standing;
  };
  expect(await tierAfter("pro", 200)).toEqual({ tier: "pro", source: "claim" });
  expect(await tierAfter("business", 100)).toEqual({ tier: "pro", source: "claim" });
  expect(await tierAfter("business", 300)).toEqual({ tier: "business", source: "claim" });
  expect(await tierAfter(null, 400)).toEqual({ tier: "free", source: "default" });
  await stores.sql`update tenants set subscription_tier = 'free' where slug = 'u-ann'`;
  tenants.changed("u-ann");
  expect(await tierAfter("business", 500)).toEqual({ tier: "free", source: "subscription" });
});

test("a team has its owner's tier where that is the lower one", async () => {
  const tenants = createTenants(stores.sql, () => frozen);
  const team = "t-0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";
  await stores.sql`
    insert into tenants (slug, kind, display_name, subscription_tier, team_tier, owner_tenant) values
      ('u-owner', 'consumer', 'u-owner', 'pro', null, null),
      (${team}, 'team', 'a team', null, 'business', 'u-owner')`;
  expect((await tenants.find(team))?.standing).toEqual({ tier: "pro", source: "subscription" });
  await stores.sql`update tenants set subscription_tier = 'enterprise' where slug = 'u-owner'`;
  tenants.changed(team);
  expect((await tenants.find(team))?.standing).toEqual({ tier: "business", source: "default" });
});
