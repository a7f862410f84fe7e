/** Sign-in by an identity provider of the colony's own (docs/reference/colony.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Membership } from "../../../actors/identity/identity.ts";
import { createAudit } from "../../../src/features/audit/port.ts";
import { createColonies } from "../../../src/features/colony/context.ts";
import { createSamlService } from "../../../src/features/colony/saml/service.ts";
import { createMembers } from "../../../src/identity/callers/members.ts";
import { createTenants } from "../../../src/identity/tenants/tenants.ts";
import { identityOf } from "../../harness/callers.ts";
import { ColonyFixture } from "./fixture.ts";

let fixture: ColonyFixture;
beforeAll(async () => {
  fixture = await ColonyFixture.open();
});
afterAll(() => fixture?.close());

/** Until 2120. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBFzCBvgIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxpZC5hY21lLnRlc3Qw
IBcNMTkwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDGlk
LmFjbWUudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJVA2ym4NMUwvP3b
D8/OvmYFcUGS+iGe1iLtaVe3wGUmf/qCNqNs26psDhvXtm3Tj1Z7BnFeaolOf2D+
mf8F4MgwCgYIKoZIzj0EAwIDSAAwRQIhAKrJqw1dW2GNuF+w4T9KyZQNAln6Jync
MlFYC7rhHbw1AiAduD5zCPWT66SDP+JLsmEVnpbkHZEcFvJjDlj/l7jRfw==
-----END CERTIFICATE-----`;
/** Until 2020. */
const expired = `-----BEGIN CERTIFICATE-----
MIIBFTCBvAIBATAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxpZC5hY21lLnRlc3Qw
HhcNMTkwMTAxMDAwMDAwWhcNMjAwMTAxMDAwMDAwWjAXMRUwEwYDVQQDDAxpZC5h
Y21lLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARhzj+ry620dcEANhHY
kwk3CIh0o/5FXsKnl6RQ7ZgaZnkv8DTzX90xWYJx0RWWor1W1g11Q2/qLsnHrkmM
PDI4MAoGCCqGSM49BAMCA0gAMEUCIQDNYXmT41lUJIb86hoMy3ljxjyvb8Hz297o
PqJF6ul48wIgCjcVRgiC5FHaKJ9vG520OFe/dFVu0od0z96cp0xzVwo=
-----END CERTIFICATE-----`;
const settings = { entity_id: "https://id.acme.test/metadata", sso_url: "https://id.acme.test/sso", certificate };
const unset = {
  configured: false,
  entity_id: "",
  sso_url: "",
  certificate: "",
  certificate_valid: false,
  provisioning: "none",
  updated_at: null,
};
const path = "/v1/colony/saml";

test("before any PUT it is not configured, with empty strings", async () => {
  const owner = await fixture.tenantUser("quiet", "ann");
  const alone = await fixture.person("bob");
  expect(await owner.done("GET", path)).toEqual(unset);
  expect(await alone.done("GET", path)).toEqual(unset);
  expect(await alone.refused("PUT", path, settings)).toBe("403 tier_not_permitted");
});

test("the owner sets it; an admin gets 403 owner_only, a member reads nothing", async () => {
  const owner = await fixture.tenantUser("acme", "ann");
  await owner.done("GET", "/v1/agents");
  const admin = await fixture.tenantUser("acme", "bob", { role: "tenant:admin" });
  const member = await fixture.tenantUser("acme", "eve", { role: "tenant:member" });
  expect(await admin.refused("PUT", path, settings)).toBe("403 owner_only");
  expect(await member.refused("PUT", path, settings)).toBe("403 insufficient_scope");
  expect(await member.refused("GET", path)).toBe("403 insufficient_scope");
  const stored = {
    configured: true,
    ...settings,
    certificate_valid: true,
    provisioning: "manual",
    updated_at: expect.any(String),
  };
  expect(await owner.done("PUT", path, settings)).toEqual(stored);
  expect(await admin.done("GET", path)).toEqual(stored);
  const [entry] = await fixture.stores.sql`select details from audit_entries where action = 'saml.updated'`;
  expect(entry?.details).toMatchObject({ entity_id: settings.entity_id, provisioning: "manual" });
});

test("a certificate that does not parse or has expired is stored as not valid", async () => {
  const owner = await fixture.tenantUser("late", "ann");
  for (const text of [expired, "no certificate", certificate.slice(0, 200)])
    expect(await owner.done("PUT", path, { ...settings, certificate: text })).toMatchObject({
      configured: true,
      certificate_valid: false,
    });
  const base64 = certificate.split("\n").slice(1, -1).join("");
  expect(await owner.done("PUT", path, { ...settings, certificate: base64 })).toMatchObject({
    certificate_valid: true,
  });
});

test.each([
  ["an entity_id with blanks", { entity_id: "a b" }],
  ["no entity_id", { entity_id: undefined }],
  ["an sso_url without https", { sso_url: "http://id.acme.test/sso" }],
  ["an sso_url with a password", { sso_url: "https://a:b@id.acme.test/sso" }],
  ["an sso_url that is none", { sso_url: "javascript:alert(1)" }],
  ["a certificate of 1 MB", { certificate: "a".repeat(1_000_000) }],
])("%s is refused", async (_, change) => {
  const owner = await fixture.tenantUser("strict", "ann");
  expect(await owner.refused("PUT", path, { ...settings, ...change })).toBe("422 validation_failed");
});

test("a team below enterprise gets 403 tier_not_permitted", async () => {
  const business = await fixture.person("ann");
  await business.team();
  expect(await business.refused("PUT", path, settings)).toBe("403 tier_not_permitted");
  const enterprise = await fixture.person("eve", { tier: "enterprise" });
  await enterprise.team("Large", "enterprise");
  expect(await enterprise.done("PUT", path, settings)).toMatchObject({ configured: true, provisioning: "manual" });
});

test("an entity_id applied for another tenant is taken, until that is deleted", async () => {
  const { sql } = fixture.stores;
  let now = Date.now();
  const clock = () => now;
  const tenants = createTenants(sql, clock);
  const members = createMembers({ sql, defaultRole: "member", now: clock });
  const colonies = createColonies({ sql, tenants, members });
  const audit = createAudit({ now: clock, newId: () => Bun.randomUUIDv7() });
  const saml = createSamlService({ sql, colonies, tenants, audit, now: clock });
  saml.connect({ serves: (tenant) => tenant !== "foreign" });
  const call = (tenant: string, membership: Membership = "owner") => ({
    identity: identityOf(tenant, { kind: "tenant_user", membership }),
    tenant,
    query: {},
    request: new Request("http://svc.test"),
    requestId: "r",
    address: null,
  });
  await Promise.all(["first", "second", "foreign"].map((slug) => tenants.ensure(slug)));
  expect(await saml.write(call("first"), settings)).toMatchObject({ provisioning: "applied" });
  expect(await saml.of("first")).toEqual({
    entityId: settings.entity_id,
    ssoUrl: settings.sso_url,
    certificate: `${certificate}\n`,
  });
  await expect(saml.write(call("second"), settings)).rejects.toMatchObject({ code: "entity_id_taken" });
  expect(await saml.write(call("foreign"), settings)).toMatchObject({ provisioning: "manual" });
  expect(await saml.of("foreign")).toBeNull();
  const late = { ...settings, certificate: expired };
  expect(await saml.write(call("first"), late)).toMatchObject({ provisioning: "failed", certificate_valid: false });
  expect(await saml.of("first")).toBeNull();
  expect(await saml.write(call("first"), settings)).toMatchObject({ provisioning: "applied" });
  await sql`update tenants set status = 'deleted' where slug = 'first'`;
  now += 10_000;
  expect(await saml.write(call("second"), settings)).toMatchObject({ provisioning: "applied" });
  expect(await saml.of("first")).toBeNull();
  // A certificate that expires meanwhile is applied no longer.
  now += 200 * 365 * 24 * 3600 * 1000;
  expect(await saml.of("second")).toBeNull();
});
