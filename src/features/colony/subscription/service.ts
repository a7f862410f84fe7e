/** What a colony's plan gives, and how much of it is used. */
import { featuresOf } from "../../../../actors/colony/plan.ts";
import { tenantKind } from "../../../../actors/identity/tenant.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import type { TenantSubscription, Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Colonies, ColonyCall } from "../context.ts";
import type { SubscriptionBody } from "../schema.ts";
import { payerOf, seatsUsed } from "../seats.ts";

/** How much of its quotas a tenant uses, by those who keep count. */
export interface QuotaUse {
  agents(tenant: string): Promise<number>;
  /** Pending and running. */
  executions(tenant: string): Promise<number>;
  /** Bytes. */
  storage(tenant: string): Promise<number>;
}

export interface SubscriptionOptions {
  readonly sql: Sql;
  readonly colonies: Colonies;
  readonly tenants: Pick<Tenants, "find" | "terms">;
  readonly use: QuotaUse;
  /** Unix ms. */
  readonly now: () => number;
}

export function createSubscriptionView({ sql, colonies, tenants, use, now }: SubscriptionOptions) {
  async function seats(slug: string) {
    const tenant = await tenants.find(slug);
    if (tenant === null || tenant.kind === "system") return { used: 0, limit: null };
    if (tenant.kind === "consumer") return { used: 1, limit: 1 };
    const payer = await payerOf(tenant, tenants);
    return { used: await seatsUsed(sql, payer, new Date(now())), limit: payer.limit };
  }

  /** Of the payer: of a team its owner. */
  async function paid(slug: string): Promise<TenantSubscription | null> {
    const tenant = await tenants.find(slug);
    if (tenant?.kind !== "team") return tenant?.subscription ?? null;
    const owner = tenant.ownerTenant === null ? null : await tenants.find(tenant.ownerTenant);
    return owner?.subscription ?? null;
  }

  async function quotaUse(tenant: string, { quotas }: TenantTerms): Promise<SubscriptionBody["quota_usage"]> {
    const [agents, executions, bytes] = await Promise.all([
      use.agents(tenant),
      use.executions(tenant),
      use.storage(tenant),
    ]);
    return {
      max_agents: { used: agents, limit: quotas.maxAgents },
      max_concurrent_executions: { used: executions, limit: quotas.maxConcurrentExecutions },
      max_storage_gb: { used: bytes / 2 ** 30, limit: quotas.maxStorageGb },
    };
  }

  return async function view(call: ColonyCall): Promise<SubscriptionBody> {
    const { tenant } = await colonies.of(call, true);
    const terms = await tenants.terms(tenant);
    const [{ used, limit }, subscription, quota_usage] = await Promise.all([
      seats(tenant),
      paid(tenant),
      quotaUse(tenant, terms),
    ]);
    return {
      tier: terms.tier === "system" ? "enterprise" : terms.tier,
      status: subscription?.status ?? "none",
      features: [...featuresOf(terms.tier)],
      quota_usage,
      members_used: used,
      members_limit: limit,
      seat_count: subscription?.seats ?? limit ?? 1,
      current_period_end: orNull(subscription?.periodEnd),
      is_team: tenantKind(tenant) === "team",
    };
  };
}

const orNull = (at: Date | null | undefined): string | null =>
  at === null || at === undefined ? null : iso(at.getTime());
