import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { type ClaimRules, identityFromClaims } from "../../../actors/identity/claims.ts";
import {
  chooseTenant,
  consumerTenant,
  isOwnSubject,
  isTenantSlug,
  tenantKind,
} from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";

const sha256Hex = (text: string) => createHash("sha256").update(text).digest("hex");
const rules = (kind: ClaimRules["kind"], changes: Partial<ClaimRules> = {}): ClaimRules => ({
  realm: { system: "svc-system", consumer: "people", tenant: "tenant-acme" }[kind],
  kind,
  claims: {
    tier: ["svc_tier", "zaru_tier"],
    role: ["svc_role", "aegis_role", "realm_access.roles"],
    tenant: ["tenant_id"],
  },
  scopeMode: "union",
  machineClients: new Set(["listed"]),
  listedClients: new Set(["listed", "web", "m2m", "s"]),
  defaultMembership: "admin",
  sha256Hex,
  ...changes,
});

test.each([
  ["system", { svc_role: "svc:readonly" }, { kind: "operator", role: "readonly", homeTenant: "svc-system" }],
  ["system", { aegis_role: "aegis:admin" }, { kind: "operator", role: "admin" }],
  ["system", { realm_access: { roles: ["offline", "operator", "readonly"] } }, { kind: "operator", role: "operator" }],
  [
    "system",
    { preferred_username: "Service-Account-Web", azp: "web" },
    { kind: "service_account", role: null, clientId: "web" },
  ],
  [
    "system",
    { preferred_username: "service-account-web", azp: "console", svc_role: "readonly" },
    { kind: "operator", clientId: null },
  ],
  [
    "system",
    { gty: "client-credentials", client_id: "unlisted", svc_role: "admin" },
    { kind: "service_account", role: "admin", clientId: "unlisted" },
  ],
  ["system", { gty: "client-credentials", client_id: "m2m" }, { kind: "service_account", clientId: "m2m" }],
  ["system", { azp: "s" }, { kind: "service_account" }],
  [
    "system",
    { azp: "listed", svc_role: "operator" },
    { kind: "service_account", role: "operator", clientId: "listed" },
  ],
  [
    "consumer",
    { tenant_id: "acme", zaru_tier: "PRO" },
    { kind: "consumer", homeTenant: "acme", tier: "pro", role: null, membership: "member" },
  ],
  ["consumer", { tenant_id: "acme", svc_role: "tenant:owner" }, { homeTenant: "acme", membership: "member" }],
  ["consumer", { tenant_id: "u-s" }, { homeTenant: "u-s", membership: null }],
  ["consumer", { svc_role: "admin" }, { kind: "consumer", homeTenant: "u-s", role: null }],
  ["consumer", { email: "a@b.c", email_verified: false }, { email: null }],
  ["consumer", { email: "a@b.c", email_verified: true }, { email: "a@b.c" }],
  ["consumer", { email: "a@b.c" }, { email: null }],
  ["consumer", { email: "a@b.c", email_verified: "true" }, { email: null }],
  ["consumer", { email: `${"a".repeat(316)}@b.c`, email_verified: true }, { email: `${"a".repeat(316)}@b.c` }],
  ["consumer", { email: `${"a".repeat(317)}@b.c`, email_verified: true }, { email: null }],
  ["tenant", {}, { kind: "tenant_user", homeTenant: "acme", membership: "admin" }],
  ["tenant", { svc_role: ["tenant:member"] }, { kind: "tenant_user", membership: "member" }],
  ["tenant", { svc_role: ["tenant:member", "tenant:owner"] }, { membership: "owner" }],
] as const)("%s realm with %j is %j", (kind, claims, expected) => {
  expect(identityFromClaims("s", claims, rules(kind))).toMatchObject(expected);
});

test.each([
  ["system", {}, "identity_not_recognized"],
  ["system", { svc_role: ["unknown"] }, "identity_not_recognized"],
  ["system", { azp: "unlisted" }, "identity_not_recognized"],
  ["system", { gty: "client-credentials", client_id: "unlisted" }, "identity_not_recognized"],
  ["system", { preferred_username: "service-account-web" }, "identity_not_recognized"],
  ["system", { preferred_username: "service-account-web", azp: "console" }, "identity_not_recognized"],
  ["system", { svc_role: "root" }, "invalid_role"],
  ["consumer", { svc_tier: "gold" }, "invalid_tier"],
  ["consumer", { svc_tier: 7 }, "invalid_tier"],
  ["consumer", { tenant_id: "Bad_Slug" }, "invalid_tenant_slug"],
  ["consumer", { tenant_id: "svc-system" }, "invalid_tenant_slug"],
  ["consumer", { tenant_id: "u-other" }, "invalid_tenant_slug"],
] as const)("%s realm with %j is refused as %s", (kind, claims, code) => {
  let refusal: unknown;
  try {
    identityFromClaims("s", claims, rules(kind));
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(Problem);
  expect(refusal).toMatchObject({ code, status: 401 });
});

test("any subject has a tenant of valid form, the same every time", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 255 }), (subject) => {
      const slug = consumerTenant(subject, sha256Hex);
      expect(isTenantSlug(slug)).toBe(true);
      expect(tenantKind(slug)).toBe("consumer");
      expect(consumerTenant(subject, sha256Hex)).toBe(slug);
    }),
  );
  expect(consumerTenant("0190F3C2-6d1e-7a55-9c1f-2f6d0c5b8e11", sha256Hex)).toBe("u-0190f3c26d1e7a559c1f2f6d0c5b8e11");
});

test("no claims make anything but an identity or a refusal", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom("svc_role", "svc_tier", "tenant_id", "azp", "scope", "scp", "email"),
        fc.jsonValue(),
      ),
      (claims) => {
        try {
          expect(isTenantSlug(identityFromClaims("s", claims, rules("consumer")).homeTenant)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      },
    ),
  );
});

const team = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";
const anyone = (kind: ClaimRules["kind"], claims: object) => identityFromClaims("s", { ...claims }, rules(kind));
const admin = anyone("system", { svc_role: "admin" });
const operator = anyone("system", { svc_role: "operator" });
const service = anyone("system", { azp: "s" });
const consumer = anyone("consumer", {});
const user = anyone("tenant", {});
const none = { delegated: null, switched: null, team: null };

test.each([
  ["admin operator", admin, { switched: "acme" }, "acme", "switched"],
  ["admin operator", admin, { delegated: "acme" }, "svc-system", "home"],
  ["operator", operator, { switched: "acme" }, "svc-system", "home"],
  ["operator", operator, { switched: "Bad_Slug" }, "svc-system", "home"],
  ["service account", service, { delegated: "acme" }, "acme", "delegated"],
  ["service account", service, { delegated: "" }, "svc-system", "home"],
  ["service account", service, { switched: "acme" }, "svc-system", "home"],
  ["consumer", consumer, { delegated: "acme", switched: "acme" }, "u-s", "home"],
  ["consumer", consumer, { delegated: "Bad_Slug" }, "u-s", "home"],
  ["consumer", consumer, { team }, `t-${team}`, "team"],
  ["consumer", consumer, { team: `t-${team.toUpperCase()}` }, `t-${team}`, "team"],
  ["tenant user", user, { delegated: "other" }, "acme", "home"],
  ["operator", operator, { team }, "svc-system", "home"],
] as const)("%s with %#", (_, identity, headers, slug, by) => {
  expect(chooseTenant(identity, { ...none, ...headers }, () => true)).toEqual({ slug, by });
});

test.each([
  [admin, "svc-system", true],
  [service, "svc-system", true],
  [service, "acme", false],
  [admin, "acme", false],
  [user, "acme", true],
  [user, "globex", false],
  [user, `t-${team}`, false],
  [consumer, "u-s", true],
  [consumer, `t-${team}`, true],
  [consumer, "acme", false],
  [consumer, "svc-system", false],
] as const)("a subject is of the tenant's own realm, or not: %#", (identity, tenant, expected) => {
  expect(isOwnSubject(identity, tenant)).toBe(expected);
});

test.each([
  ["admin operator", admin, { switched: "Bad_Slug" }, "invalid_tenant_slug", 400],
  ["service account", service, { delegated: "Bad_Slug" }, "invalid_tenant_slug", 400],
  ["service account", service, { delegated: "acme, acme" }, "invalid_tenant_slug", 400],
  ["service account", service, { delegated: "secret" }, "tenant_delegation_forbidden", 403],
  ["consumer", consumer, { team: "nobody" }, "invalid_tenant_slug", 400],
] as const)("%s with %j is refused", (_, identity, headers, code, status) => {
  const choose = () => chooseTenant(identity, { ...none, ...headers }, (_client, slug) => slug !== "secret");
  expect(choose).toThrow(expect.objectContaining({ code, status }) as unknown as Error);
});
