/**
 * Subscriptions of tenants: what is told of them becomes their rows and, in the same transaction, what they give becomes
 * part of their tenant's. Every change of a tenant's subscriptions waits for the one before it.
 */
import type { Heard, Told } from "../../../../actors/billing/events.ts";
import { hear } from "../../../../actors/billing/events.ts";
import { isOver, type Subscription, subscriptionsOf, tierInForce } from "../../../../actors/billing/standing.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { ProviderSubscriptions } from "./provider.ts";
import {
  lockTenant,
  putSubscription,
  putTenantColumns,
  type StoredSubscription,
  subscriptionById,
  subscriptionsOfTenant,
  tenantsPastGrace,
} from "./records.ts";

/** Puts on record what no history of a tenant's subscriptions explains, with what is stored of it. */
export type Drift = (
  tx: Sql | Transaction,
  tenant: string,
  details: Readonly<Record<string, string | number | boolean | null>>,
) => Promise<void>;

export const driftRecorded =
  (incidents: Pick<Incidents, "record">): Drift =>
  (tx, tenant, details) =>
    incidents.record(tx, {
      category: "billing_drift",
      tenant,
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: null,
      violationType: null,
      details,
    });

export interface Change {
  readonly tenant: string;
  readonly id: string;
  /** Null: nothing is to change. */
  readonly decide: (known: StoredSubscription | null) => Subscription | null;
  /** Part of the same transaction, behind the decision. @throws to leave all as it was */
  readonly within?: (tx: Transaction) => Promise<void>;
}

export interface Changed {
  readonly before: StoredSubscription | null;
  /** Null: nothing changed. */
  readonly after: Subscription | null;
  /** The tenant is deleted, so that the subscription has to end. */
  readonly mustEnd: boolean;
}

export interface Subscriptions {
  /** Changes one subscription of a tenant. @throws UnknownTenant */
  change(change: Change): Promise<Changed>;
  /**
   * Reads a subscription at the provider and applies what was read; again where it was changed meanwhile.
   * @param told what it is read for
   * @throws PaymentFailure, UnknownTenant
   */
  readBack(tenant: string, id: string, told: ReadFor, within?: Change["within"]): Promise<Changed>;
  /** Writes into tenants' rows what became of graces that are over. */
  endGraces(): Promise<void>;
  /** Ends what a deleted tenant has subscribed. @returns whether nothing was left to end */
  cancelAll(tenant: string): Promise<boolean>;
}

export interface ReadFor {
  /** The event; null: none. */
  readonly at: number | null;
  /** Status that the event itself told. */
  readonly said?: string;
  readonly cause: Extract<Told, { by: "provider" }>["cause"];
  /** Of the payment that failed. */
  readonly invoice: string | null;
}

/** There is no such tenant, or it was erased. */
export class UnknownTenant extends Error {
  override readonly name = "UnknownTenant";
  /** @param tenant null: none is named */
  constructor(readonly tenant: string | null) {
    super("there is no such tenant");
  }
}

export interface SubscriptionsOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "changed">;
  readonly provider: ProviderSubscriptions;
  readonly drift: Drift;
  /** Unix ms. */
  readonly now: () => number;
}

/** Others change a subscription while it is read; after so many times the reader comes back later. */
const maxReads = 5;
const gracesAtOnce = 200;

export function createSubscriptions({ sql, tenants, provider, drift, now }: SubscriptionsOptions): Subscriptions {
  const seconds = (): number => Math.floor(now() / 1000);

  /** What all of a tenant's subscriptions give, into its row. @returns whether that changed */
  async function recompute(tx: Transaction, tenant: string, hadTier: boolean) {
    const all = await subscriptionsOfTenant(tx, tenant);
    const { tier, shown, live } = subscriptionsOf(all, hadTier, seconds());
    const isLive = shown !== null && live.includes(shown.facts.id);
    return { changed: await putTenantColumns(tx, tenant, { tier, shown, isLive }), live };
  }

  async function change({ tenant, id, decide, within }: Change): Promise<Changed> {
    const done = await sql.begin(async (tx) => {
      const locked = await lockTenant(tx, tenant);
      if (locked === null || locked.isPurged) throw new UnknownTenant(tenant);
      const before = await subscriptionById(tx, id);
      const after = decide(before);
      await within?.(tx);
      if (after === null) return { before, after, mustEnd: false, changed: false };
      await putSubscription(tx, tenant, after, seconds());
      const { changed, live } = await recompute(tx, tenant, locked.subscriptionTier !== null);
      const wasLive = before !== null && tierInForce(before, seconds()) !== "free";
      const isFurther = live.length > 1 && live.includes(id) && !wasLive;
      if (isFurther) await drift(tx, tenant, { reason: "several_live", subscriptions: live.join(" ") });
      return { before, after, mustEnd: locked.isDeleted && !isOver(after.facts), changed };
    });
    if (done.changed) tenants.changed(tenant);
    const { before, after, mustEnd } = done;
    return { before, after, mustEnd };
  }

  async function readBack(tenant: string, id: string, read: ReadFor, within?: Change["within"]): Promise<Changed> {
    for (let attempt = 1; ; attempt++) {
      const asOf = (await subscriptionById(sql, id))?.revision ?? null;
      const readAt = seconds();
      const seen = await provider.read(id);
      const facts = await provider.factsOf(seen);
      const isOpenFailure = seen.latestInvoice === null || read.invoice === seen.latestInvoice;
      const { at, said = null, cause } = read;
      const told = { by: "provider", at, readAt, said, facts, cause, isOpenFailure } as const;
      let isLate = false;
      const changed = await change({
        tenant,
        id,
        decide(known) {
          isLate = (known?.revision ?? null) !== asOf;
          return isLate ? null : subscriptionOf(hear(known, told));
        },
        ...(within && { within: async (tx) => (isLate ? undefined : within(tx)) }),
      });
      if (!isLate) return changed;
      if (attempt === maxReads) throw new Error(`the subscription ${id} changes faster than it can be read`);
    }
  }

  async function endGraces(): Promise<void> {
    for (const tenant of await tenantsPastGrace(sql, gracesAtOnce)) {
      const changed = await sql.begin(async (tx) => {
        const locked = await lockTenant(tx, tenant);
        const at = seconds();
        await tx`
          update billing_subscriptions set is_live = false, updated_at = now()
          where tenant = ${tenant} and is_live and grace_ends_at <= ${new Date(at * 1000)}`;
        return locked === null ? false : (await recompute(tx, tenant, locked.subscriptionTier !== null)).changed;
      });
      if (changed) tenants.changed(tenant);
    }
  }

  async function cancelAll(tenant: string): Promise<boolean> {
    const open = (await subscriptionsOfTenant(sql, tenant)).filter(({ facts }) => !isOver(facts));
    for (const { facts } of open) {
      await provider.cancel(facts.id);
      await readBack(tenant, facts.id, { at: null, cause: "doubt", invoice: null });
    }
    return open.length === 0;
  }

  return { change, readBack, endGraces, cancelAll };
}

/** What is to be stored of what was heard. */
export const subscriptionOf = (heard: Heard): Subscription | null =>
  heard.outcome === "ask" ? null : heard.subscription;
