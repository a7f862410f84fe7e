/** What a tenant's tier and quotas follow from, as its row has it. */
import type { Fragment } from "postgres";
import type { Tier } from "../../../actors/identity/identity.ts";
import { type Standing, standingOf, type TierFacts } from "../../../actors/identity/standing.ts";
import type { TenantKind } from "../../../actors/identity/tenant.ts";
import { quotasOf, type TenantQuotas } from "../../../actors/policy/quota.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

interface TierColumns {
  readonly kind: TenantKind;
  readonly admin_tier: Tier | null;
  readonly subscription_tier: Tier | null;
  readonly claimed_tier: Tier | null;
  readonly team_tier: Tier | null;
}

export interface TermsRow extends TierColumns {
  readonly max_concurrent_executions: string | null;
  readonly max_agents: string | null;
  readonly max_storage_gb: string | null;
  /** Of a team. */
  readonly owner: TierColumns | null;
}

/** Tenants `t` and, of teams, their owner's `o`, whose tier ends with it. */
export const tenantsWithOwners = (sql: Sql | Transaction): Fragment =>
  sql`tenants t left join tenants o on o.slug = t.owner_tenant and o.status <> 'deleted'`;

/** Columns of a tenant `t` and of its owner's tenant `o`, null where it has none. */
export const termsColumns = (sql: Sql | Transaction): Fragment => sql`
  t.kind, t.admin_tier, t.subscription_tier, t.claimed_tier, t.team_tier,
  t.max_concurrent_executions, t.max_agents, t.max_storage_gb,
  case when o.slug is not null then json_build_object('kind', o.kind, 'admin_tier', o.admin_tier,
    'subscription_tier', o.subscription_tier, 'claimed_tier', o.claimed_tier, 'team_tier', o.team_tier) end as owner`;

/** What follows from them. */
export interface Terms {
  readonly standing: Standing;
  readonly quotas: TenantQuotas;
  /** Of a team; `free` where it has no owner any more. */
  readonly ownerTier: Standing["tier"];
}

export function termsOfRow(row: TermsRow): Terms {
  const owner = row.owner === null ? null : tierFacts(row.owner);
  const standing = standingOf({ ...tierFacts(row), owner });
  const quotas = quotasOf(standing.tier, {
    maxConcurrentExecutions: numberOf(row.max_concurrent_executions),
    maxAgents: numberOf(row.max_agents),
    maxStorageGb: numberOf(row.max_storage_gb),
  });
  return { standing, quotas, ownerTier: owner === null ? "free" : standingOf(owner).tier };
}

const tierFacts = (row: TierColumns): TierFacts => ({
  kind: row.kind,
  admin: row.admin_tier,
  subscription: row.subscription_tier,
  claimed: row.claimed_tier,
  team: row.team_tier,
  owner: null,
});

/** PostgreSQL's bigint arrives as text. */
export const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
