/** How much a tenant may have, by its tier. */
import { type Identity, systemTenant, type Tier } from "../identity/identity.ts";
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

export interface Quota {
  /** Null: any number. */
  readonly limit: number | null;
  readonly tier: Tier | "system";
}

/** How many agents the tenant may have deployed at once. */
export function agentQuota(identity: Identity, tenant: string): Quota {
  if (tenant === systemTenant) return { limit: null, tier: "system" };
  const tier = tierOf(identity, tenant);
  return { limit: maxAgents[tier], tier };
}

/**
 * How many executions the tenant may have pending or running at once, children included.
 * @param starter null when no person starts it
 */
export function executionQuota(starter: Standing | null, tenant: string): Quota {
  if (tenant === systemTenant) return { limit: null, tier: "system" };
  const tier = tierOf(starter, tenant);
  return { limit: maxExecutions[tier], tier };
}

export type Standing = Pick<Identity, "kind" | "tier">;

/** Subscriptions and administrators have no say yet: the caller's own claim, else what the kind of tenant implies. */
export function tierOf(caller: Standing | null, tenant: string): Tier {
  if (caller?.kind === "consumer") return caller.tier ?? "free";
  return tenantKind(tenant) === "enterprise" ? "enterprise" : "free";
}
