/** How much a tenant may have, by its tier and by what an administrator set for it. */
import type { Tier } from "../identity/identity.ts";
import { standingOf } from "../identity/standing.ts";
import { tenantKind } from "../identity/tenant.ts";

const maxAgents: Readonly<Record<Tier, number>> = { free: 5, pro: 50, business: 200, enterprise: 500 };
const maxExecutions: Readonly<Record<Tier, number>> = { free: 2, pro: 10, business: 25, enterprise: 50 };

/** How much a tenant may have at once; -1: any number. */
export interface TenantQuotas {
  readonly maxConcurrentExecutions: number;
  readonly maxAgents: number;
  /** Of 2^30 bytes. */
  readonly maxStorageGb: number;
}

const maxStorageGb: Readonly<Record<Tier, number>> = { free: 1, pro: 25, business: 50, enterprise: 100 };

/** @param set for this tenant alone; null: as its tier has it */
export function quotasOf(
  tier: Tier | "system",
  set: { readonly [K in keyof TenantQuotas]: number | null },
): TenantQuotas {
  const of = (value: number | null, byTier: Readonly<Record<Tier, number>>): number =>
    value ?? (tier === "system" ? -1 : byTier[tier]);
  return {
    maxConcurrentExecutions: of(set.maxConcurrentExecutions, maxExecutions),
    maxAgents: of(set.maxAgents, maxAgents),
    maxStorageGb: of(set.maxStorageGb, maxStorageGb),
  };
}

/** What quotas, rates and permissions go by: the tenant's standing, not the caller's. */
export interface TenantTerms {
  readonly tier: Tier | "system";
  readonly quotas: TenantQuotas;
}

/** Of a tenant that has no record yet: as its kind has it. */
export function usualTerms(slug: string): TenantTerms {
  const facts = { admin: null, subscription: null, claimed: null, team: null, owner: null };
  const { tier } = standingOf({ ...facts, kind: tenantKind(slug) });
  return { tier, quotas: quotasOf(tier, { maxConcurrentExecutions: null, maxAgents: null, maxStorageGb: null }) };
}

export interface Quota {
  /** Null: any number. */
  readonly limit: number | null;
  readonly tier: Tier | "system";
}

const bounded = (limit: number, { tier }: TenantTerms): Quota => ({ limit: limit < 0 ? null : limit, tier });

/** How many agents the tenant may have deployed at once. */
export const agentQuota = (terms: TenantTerms): Quota => bounded(terms.quotas.maxAgents, terms);

/** How many executions the tenant may have pending or running at once, children included. */
export const executionQuota = (terms: TenantTerms): Quota => bounded(terms.quotas.maxConcurrentExecutions, terms);

const maxEdgeHosts: Readonly<Record<Tier, number>> = { free: 5, pro: 50, business: 500, enterprise: 10_000 };

/** How many edge hosts the tenant may have; those that were revoked do not count. */
export const edgeHostQuota = ({ tier }: Pick<TenantTerms, "tier">): Quota => ({
  limit: tier === "system" ? null : maxEdgeHosts[tier],
  tier,
});
