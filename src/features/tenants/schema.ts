/** The wire shapes of tenants (docs/reference/tenants.md). */
import { type Static, Type } from "@sinclair/typebox";
import { tiers } from "../../../actors/identity/identity.ts";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";

const Tier = Type.Union(tiers.map((tier) => Type.Literal(tier)));
/** `svc-system` has one of its own. */
const AnyTier = Type.Union([...tiers.map((tier) => Type.Literal(tier)), Type.Literal("system")]);
const Status = Type.Union([Type.Literal("active"), Type.Literal("suspended"), Type.Literal("deleted")]);
const Kind = Type.Union([
  Type.Literal("system"),
  Type.Literal("consumer"),
  Type.Literal("team"),
  Type.Literal("enterprise"),
]);
const Source = Type.Union([
  Type.Literal("admin"),
  Type.Literal("subscription"),
  Type.Literal("claim"),
  Type.Literal("default"),
]);
/** -1: any number. */
const Limit = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER });
/** Printable text of one line. */
const line = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" });
const Address = Type.String({
  minLength: 3,
  maxLength: 320,
  pattern: "^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$",
});

/** As it stands in a path; whether there is such a tenant is another question. */
export const SlugParam = Type.Object({
  slug: Type.String({
    pattern: "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
    "x-code": "invalid_tenant_slug",
    "x-message": "This is no tenant name",
  }),
});

export const TenantBody = Type.Object({
  slug: Type.String(),
  display_name: Type.String(),
  kind: Kind,
  status: Status,
  tier: AnyTier,
  tier_source: Source,
  quotas: Type.Object(
    { max_concurrent_executions: Type.Integer(), max_agents: Type.Integer(), max_storage_gb: Type.Integer() },
    { description: "In force; -1: any number" },
  ),
  idp_realm: Type.String(),
  keycloak_realm: Type.String(),
  vault_namespace: Type.String(),
  openbao_namespace: Type.String(),
  owner_email: Nullable(Type.String()),
  suspended_at: Nullable(Time),
  suspend_reason: Nullable(Type.String()),
  created_at: Time,
  updated_at: Time,
  deleted_at: Nullable(Time),
  purge_at: Nullable(Time),
});
export type TenantBody = Static<typeof TenantBody>;

const quotas = (of: "absent" | "tier") => {
  const limit = of === "tier" ? Nullable(Limit) : Limit;
  return Type.Partial(Type.Object({ max_concurrent_executions: limit, max_agents: limit, max_storage_gb: limit }));
};

export const NewTenant = Type.Object(
  {
    slug: Type.String({ maxLength: 256 }),
    display_name: line(128),
    tier: Type.Optional(Tier),
    quotas: Type.Optional(quotas("absent")),
    owner_email: Type.Optional(Address),
    idp_realm: Type.Optional(line(255)),
    vault_namespace: Type.Optional(line(255)),
  },
  { examples: [{ slug: "acme", display_name: "Acme Ltd", tier: "business", owner_email: "ann@acme.test" }] },
);
export type NewTenant = Static<typeof NewTenant>;

export const TenantChange = Type.Partial(
  Type.Object({
    display_name: line(128),
    tier: Nullable(Tier),
    quotas: quotas("tier"),
    owner_email: Nullable(Address),
  }),
  { examples: [{ tier: "enterprise", quotas: { max_agents: 1000, max_storage_gb: null } }] },
);
export type TenantChange = Static<typeof TenantChange>;

export const TenantsQuery = Type.Object({
  limit: pagingQuery.limit,
  cursor: pagingQuery.cursor,
  status: Type.Optional(Status),
  tier: Type.Optional(AnyTier),
  kind: Type.Optional(Kind),
  q: Type.Optional(Type.String({ maxLength: 128, description: "A part of the slug or of the display name" })),
});
export type TenantsQuery = Static<typeof TenantsQuery>;

export const Suspension = Type.Object(
  { reason: Type.Optional(Type.String({ maxLength: 500, pattern: "^[^\\u0000]*$" })) },
  { examples: [{ reason: "invoice 2031-04 is open" }] },
);

const answer = <S extends string>(status: S) => Type.Object({ status: Type.Literal(status), slug: Type.String() });
export const Suspended = answer("suspended");
export const Resumed = answer("active");
export const Deleted = Type.Composite([answer("deleted"), Type.Object({ purge_at: Time })]);

/** By the names that the API document gives them. */
export const named = { Tenant: TenantBody, NewTenant, TenantChange, TenantSuspension: Suspension };
