/**
 * Comparisons with the payment provider: once a day each customer's subscriptions are listed there, and what events did
 * not tell is mended. A customer is compared by one node at a time; nothing waits for it.
 */
import { differs, hear } from "../../../../actors/billing/events.ts";
import { isOver, subscriptionsOf } from "../../../../actors/billing/standing.ts";
import type { Facts } from "../../../../actors/billing/subscription.ts";
import { PaymentFailure } from "../../../adapters/payment/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { ProviderSubscriptions } from "./provider.ts";
import { customerOf, type StoredSubscription, subscriptionsOfTenant } from "./records.ts";
import { type Drift, type Subscriptions, subscriptionOf, UnknownTenant } from "./service.ts";

export interface ComparisonOptions {
  readonly sql: Sql;
  readonly provider: ProviderSubscriptions;
  readonly subscriptions: Subscriptions;
  readonly drift: Drift;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Unix ms. */
  readonly now: () => number;
}

export interface Comparison {
  /** Compares the customers whose day is over, one after the other. */
  due(): Promise<void>;
  /** Compares one tenant now. @throws PaymentFailure */
  compare(tenant: string): Promise<void>;
  /**
   * Ends what a deleted tenant has subscribed, told by events or not, and what it could still buy. Repeatable.
   * @returns whether nothing was left to end
   * @throws PaymentFailure
   */
  end(tenant: string): Promise<boolean>;
}

/** What calls of before a deletion still began is looked for once more behind it. */
const lateCall = "50 seconds";
/** Of one round: all that is due. */
const atOnce = 200;

export function createComparison({ sql, provider, subscriptions, drift, warn, now }: ComparisonOptions): Comparison {
  async function compareOne(
    tenant: string,
    known: StoredSubscription | null,
    facts: Facts,
    firstFailure: number | null,
    at: number,
  ): Promise<void> {
    let drifted: string | null | undefined;
    const { mustEnd } = await subscriptions.change({
      tenant,
      id: facts.id,
      decide(current) {
        // An event was applied meanwhile: what was listed may be older.
        if ((current?.revision ?? null) !== (known?.revision ?? null)) return null;
        const found = subscriptionOf(hear(current, { by: "comparison", at, facts, firstFailure }));
        if (found !== null && differs(current, found, at)) drifted = current?.facts.status ?? null;
        return found;
      },
      async within(tx) {
        if (drifted === undefined) return;
        const details = { subscription_id: facts.id, status: facts.status, known: drifted };
        await drift(tx, tenant, { reason: "differs", ...details });
      },
    });
    if (mustEnd) await subscriptions.cancelAll(tenant);
  }

  async function compare(tenant: string): Promise<void> {
    const customer = await customerOf(sql, tenant);
    if (customer === null) return;
    const at = Math.floor(now() / 1000);
    const known = new Map((await subscriptionsOfTenant(sql, tenant)).map((one) => [one.facts.id, one]));
    const listed = await provider.listOf(customer);
    for (const seen of listed) {
      const facts = await provider.factsOf(seen);
      const before = known.get(seen.id) ?? null;
      known.delete(seen.id);
      if (before !== null && isOver(before.facts) && isOver(facts)) continue;
      const failure = facts.status === "past_due" ? await provider.firstFailure(seen.id) : null;
      await compareOne(tenant, before, facts, failure, at);
    }
    for (const one of known.values()) if (!isOver(one.facts)) await compareUnlisted(tenant, one, at);
    const { live } = subscriptionsOf(await subscriptionsOfTenant(sql, tenant), false, at);
    if (live.length > 1) await drift(sql, tenant, { reason: "several_live", subscriptions: live.join(" ") });
    await sql`update billing_customers set checked_at = now() where tenant = ${tenant}`;
  }

  /** Of another customer, or not there any more: what the provider does not know it does not charge either. */
  async function compareUnlisted(tenant: string, known: StoredSubscription, at: number): Promise<void> {
    const facts = await provider.read(known.facts.id).then(provider.factsOf, (error: unknown) => {
      if (error instanceof PaymentFailure && error.kind === "missing")
        return { ...known.facts, status: "canceled", pending: null };
      throw error;
    });
    await compareOne(tenant, known, facts, null, at);
  }

  /** A customer that is due, which no other node takes for a while. */
  async function claim(): Promise<string | null> {
    const [row] = await sql<{ tenant: string }[]>`
      update billing_customers set checked_at = now() - interval '23 hours 50 minutes'
      where tenant = (
        select tenant from billing_customers where coalesce(checked_at, created_at) < now() - interval '24 hours'
        order by coalesce(checked_at, created_at) limit 1 for update skip locked)
      returning tenant`;
    return row?.tenant ?? null;
  }

  return {
    compare,
    async end(tenant) {
      const [unseen] = await sql<{ customer_id: string }[]>`
        select customer_id from billing_customers c join tenants t on t.slug = c.tenant
        where c.tenant = ${tenant} and (c.checked_at is null or c.checked_at < t.deleted_at
          or c.checked_at < t.deleted_at + ${lateCall}::text::interval
            and now() > t.deleted_at + ${lateCall}::text::interval)`;
      if (unseen !== undefined) {
        await provider.expireSessions(unseen.customer_id);
        await compare(tenant);
      }
      return subscriptions.cancelAll(tenant);
    },
    async due() {
      for (let done = 0; done < atOnce; done++) {
        const tenant = await claim();
        if (tenant === null) return;
        await compare(tenant).catch((error: unknown) => {
          if (!(error instanceof UnknownTenant)) warn("billing_comparison", { tenant, error: String(error) });
        });
      }
    },
  };
}
