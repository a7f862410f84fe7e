/** What a tenant has subscribed, as it is shown: from the service's own rows, without the provider. */
import { seatCount, subscriptionsOf, tierInForce } from "../../../../actors/billing/standing.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { SubscriptionBody } from "../schema.ts";
import { customerOf, type StoredSubscription, subscriptionsOfTenant } from "./records.ts";

export interface SubscriptionViewOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "terms">;
  /** Unix ms. */
  readonly now: () => number;
}

export interface SubscriptionView {
  /** The one that counts: the highest that is live, else the newest; null: the tenant never had one. */
  counting(tenant: string): Promise<StoredSubscription | null>;
  /** The same as clients see it; there is always something to show. */
  of(tenant: string): Promise<SubscriptionBody>;
}

export function createSubscriptionView({ sql, tenants, now }: SubscriptionViewOptions): SubscriptionView {
  const seconds = (): number => Math.floor(now() / 1000);

  async function counting(tenant: string): Promise<StoredSubscription | null> {
    const all = await subscriptionsOfTenant(sql, tenant);
    const shown = subscriptionsOf(all, false, seconds()).shown;
    return all.find(({ facts }) => facts.id === shown?.facts.id) ?? null;
  }

  async function none(tenant: string): Promise<SubscriptionBody> {
    const [{ tier }, customer] = await Promise.all([tenants.terms(tenant), customerOf(sql, tenant)]);
    return {
      tenant_id: tenant,
      tier: tier === "system" ? "enterprise" : tier,
      status: "none",
      stripe_customer_id: customer,
      stripe_subscription_id: null,
      current_period_end: null,
      cancel_at_period_end: false,
      seat_count: 1,
      billing_interval: null,
      pending_change: null,
      updated_at: null,
    };
  }

  return {
    counting,
    async of(tenant) {
      const subscription = await counting(tenant);
      if (subscription === null) return none(tenant);
      const { facts, updatedAt } = subscription;
      return {
        tenant_id: tenant,
        tier: tierInForce(subscription, seconds()),
        status: facts.status,
        stripe_customer_id: facts.customer,
        stripe_subscription_id: facts.id,
        current_period_end: facts.periodEnd === null ? null : isoOf(facts.periodEnd),
        cancel_at_period_end: facts.cancelAtPeriodEnd,
        seat_count: seatCount(facts),
        billing_interval: facts.interval,
        pending_change:
          facts.pending === null ? null : { target_tier: facts.pending.tier, effective_at: isoOf(facts.pending.at) },
        updated_at: iso(updatedAt.getTime()),
      };
    },
  };
}

const isoOf = (seconds: number): string => iso(seconds * 1000);
