/** How much a tenant may have, by its tier. */
import { type Identity, systemTenant, type Tier } from "./identity.ts";
import { tenantKind } from "./tenant.ts";

const maxAgents: Readonly<Record<Tier, number>> = { free: 5, pro: 50, business: 200, enterprise: 500 };

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

/** Subscriptions and administrators have no say yet: the caller's own claim, else what the kind of tenant implies. */
function tierOf(identity: Identity, tenant: string): Tier {
  if (identity.kind === "consumer") return identity.tier ?? "free";
  return tenantKind(tenant) === "enterprise" ? "enterprise" : "free";
}
