/** Which tenants come into being by delegation, and what a purged one is (docs/reference/tenants.md). */
import { afterAll, expect, test } from "bun:test";
import type { Identity } from "../../actors/identity/identity.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import { createAuthenticator } from "../../src/identity/authenticate.ts";
import { createTenants } from "../../src/identity/tenants/tenants.ts";
import { identityOf } from "../harness/callers.ts";
import { freshStores } from "../harness/stores.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());
const { sql } = stores;
const refused = async () => {
  throw new Problem("invalid_token", "Not asked for here");
};

/** @returns the tenant and whether it would be made, or the refusal's code */
async function resolved(
  identity: Identity,
  headers: Readonly<Record<string, string>>,
  { method = "GET", autoprovision = true } = {},
) {
  const authenticator = createAuthenticator({
    tokens: { verify: refused },
    keys: { identify: refused },
    members: { find: async () => null },
    tenants: createTenants(sql, Date.now),
    settings: {
      service_accounts: [{ client_id: "web", tenants: ["*"], machine_only: true }],
      delegation: { autoprovision },
    },
    failures: null,
  });
  try {
    const found = await authenticator.resolveTenant(
      identity,
      { headers: new Headers(headers), method },
      { whileSuspended: false, whileDatabaseAway: false },
    );
    await found.create?.(async () => {});
    return [found.slug, found.create !== null];
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

const service = identityOf("svc-system", { kind: "service_account", clientId: "web" });
const readonly = { ...service, role: "readonly" } as const;
const admin = identityOf("svc-system", { kind: "operator", role: "admin" });
const person = (slug: string) => identityOf(slug, { kind: "consumer" });

const insert = (slug: string, kind: string, state: "deleted" | "purged") =>
  sql`
    insert into tenants (slug, kind, display_name, status, deleted_at, purge_at, purged_at)
    values (${slug}, ${kind}, ${slug}, 'deleted', now(), now(), ${state === "purged" ? sql`now()` : null})`;

test.each([
  ["fresh-1", "GET", service, true, ["fresh-1", false]],
  ["fresh-2", "POST", service, true, ["fresh-2", true]],
  ["u-fresh", "POST", service, true, ["u-fresh", true]],
  ["fresh-3", "GET", readonly, true, ["fresh-3", false]],
  ["fresh-3", "POST", readonly, true, "tenant_not_found"],
  ["fresh-4", "GET", service, false, "tenant_not_found"],
  ["fresh-4", "POST", service, false, "tenant_not_found"],
  ["t-abc", "GET", service, true, "tenant_not_found"],
  ["t-abc", "POST", service, true, "tenant_not_found"],
  ["t-5f0c3f0e-8c1d-4a52-9b1a-0d6c1b1f2a3b", "POST", service, true, "tenant_not_found"],
  ["Bad_Slug", "GET", service, true, "invalid_tenant_slug"],
  ["svc-system", "POST", service, true, ["svc-system", false]],
] as const)("a delegated %s, %s, case %#", async (slug, method, identity, autoprovision, expected) => {
  expect(await resolved(identity, { "X-Tenant-Id": slug }, { method, autoprovision })).toEqual(
    typeof expected === "string" ? expected : [...expected],
  );
  const isMade = typeof expected !== "string" && expected[1];
  const { count } = await sql`select from tenants where slug = ${slug} and slug <> 'svc-system'`;
  expect(count > 0).toBe(isMade);
});

test("a machine's key opens its tenant as long as its client may act there", async () => {
  const team = "t-0c6f0b51-3f4e-4f0a-8c2a-6a5b1d9e7f10";
  await sql`insert into tenants (slug, kind, display_name) values ('kept', 'enterprise', 'k')`;
  await sql`
    insert into tenants (slug, kind, display_name, team_tier, owner_tenant, admin_tier)
    values (${team}, 'team', 't', 'business', 'u-host', 'business')`;
  await sql`insert into tenants (slug, kind, display_name, admin_tier) values ('u-host', 'consumer', 'h', 'business')`;
  const keyIn = (tenant: string, clientId: string) => ({
    ...identityOf(tenant, { kind: "service_account", clientId, userId: "web" }),
    keyId: crypto.randomUUID(),
  });
  expect(await resolved(keyIn("kept", "web"), {})).toEqual(["kept", false]);
  expect(await resolved(keyIn(team, "web"), {})).toEqual([team, false]);
  // Listed no more: its tokens are refused there, and so are its keys.
  expect(await resolved(keyIn("kept", "former"), {})).toBe("tenant_delegation_forbidden");
  expect(await resolved(keyIn(team, "former"), {})).toBe("tenant_delegation_forbidden");
  expect(await resolved(keyIn("svc-system", "former"), {})).toEqual(["svc-system", false]);
});

test("a purged enterprise tenant is deleted for good, also for an admin who looks in", async () => {
  await insert("was", "enterprise", "purged");
  await insert("ends", "enterprise", "deleted");
  expect(await resolved(service, { "X-Tenant-Id": "was" }, { method: "POST" })).toBe("tenant_deleted");
  expect(await resolved(admin, { "X-Svc-Tenant": "was" })).toBe("tenant_deleted");
  expect(await resolved(admin, { "X-Svc-Tenant": "ends" })).toEqual(["ends", false]);
  expect(await resolved(admin, { "X-Svc-Tenant": "ends" }, { method: "POST" })).toBe("tenant_deleted");
});

test("a deleted tenant of a consumer is closed, a purged one begins anew", async () => {
  await insert("u-closed", "consumer", "deleted");
  await insert("u-again", "consumer", "purged");
  expect(await resolved(person("u-closed"), {})).toBe("tenant_deleted");
  expect(await resolved(person("u-again"), {})).toEqual(["u-again", true]);
  const [row] = await sql`select status, deleted_at, purge_at, purged_at from tenants where slug = 'u-again'`;
  expect(row).toEqual({ status: "active", deleted_at: null, purge_at: null, purged_at: null });
  expect(await resolved(person("u-again"), {})).toEqual(["u-again", false]);
});
