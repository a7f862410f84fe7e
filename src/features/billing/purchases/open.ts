/** What sells, put together. */
import { isChangeable } from "../../../../actors/billing/changes.ts";
import type { Facts } from "../../../../actors/billing/subscription.ts";
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import { type CatalogueService, createCatalogue } from "../catalogue/service.ts";
import type { Comparison } from "../subscriptions/comparison.ts";
import { customerOf } from "../subscriptions/records.ts";
import type { Subscriptions } from "../subscriptions/service.ts";
import type { SubscriptionView } from "../subscriptions/view.ts";
import { type Changes, createChanges } from "./changes.ts";
import { type Checkouts, createCheckouts, type Places } from "./checkout.ts";
import { createCustomers } from "./customers.ts";
import { createInvoices, type Invoices } from "./invoices.ts";
import { subscriptionChanges } from "./provider.ts";
import { createTurns } from "./turns.ts";

/** What there is where the provider is configured. */
export interface Selling {
  readonly catalogue: CatalogueService;
  readonly checkouts: Checkouts;
  readonly changes: Changes;
  readonly invoices: Invoices;
}

export interface SellingOptions {
  readonly sql: Sql;
  readonly payment: Payment;
  readonly brand: string;
  readonly places: Places;
  readonly view: Pick<SubscriptionView, "counting">;
  readonly subscriptions: Pick<Subscriptions, "readBack">;
  readonly comparison: Pick<Comparison, "compare">;
  /** People whom a tenant's plan pays for. */
  readonly people: (tenant: string) => Promise<number>;
  /** PostgreSQL's time, Unix milliseconds. */
  readonly databaseNow: () => number;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

export function openSelling(options: SellingOptions): Selling {
  const { sql, payment, brand, places, view, subscriptions, comparison, people, databaseNow, newId } = options;
  const catalogue = createCatalogue({ payment, brand });
  const inTurn = createTurns({ sql, newId });
  const customers = createCustomers({ sql, payment, newId });

  /** The one that counts. A customer of whom none is known may have one that no event has told of yet. */
  async function counting(tenant: string): Promise<string | null> {
    const known = await view.counting(tenant);
    if (known !== null && isChangeable(known.facts.status)) return known.facts.id;
    await comparison.compare(tenant);
    return (await view.counting(tenant))?.facts.id ?? null;
  }

  async function current(tenant: string): Promise<Facts | null> {
    const id = await counting(tenant);
    if (id === null) return null;
    const { after } = await subscriptions
      .readBack(tenant, id, { at: null, cause: "doubt", invoice: null })
      .catch((error: unknown) => {
        if (error instanceof PaymentFailure && error.kind === "missing") return { after: null };
        throw error;
      });
    return after?.facts ?? null;
  }

  const provider = subscriptionChanges(payment);
  const now = () => Math.floor(databaseNow() / 1000);
  return {
    catalogue,
    checkouts: createCheckouts({ payment, catalogue, customers, inTurn, places }),
    changes: createChanges({ provider, catalogue, inTurn, current, people, now }),
    invoices: createInvoices({ payment, customerOf: (tenant) => customerOf(sql, tenant) }),
  };
}

/** Where the provider's pages lead back to. Null: the service's own. */
export function placesOf(
  publicUrl: string,
  {
    paymentSuccessUrl,
    paymentCancelUrl,
    paymentReturnUrl,
    paymentUrlOrigins,
  }: {
    readonly paymentSuccessUrl: string | null;
    readonly paymentCancelUrl: string | null;
    readonly paymentReturnUrl: string | null;
    readonly paymentUrlOrigins: readonly string[];
  },
): Places {
  return {
    success: paymentSuccessUrl ?? `${publicUrl}/billing/success?session_id={CHECKOUT_SESSION_ID}`,
    cancel: paymentCancelUrl ?? `${publicUrl}/billing/cancel`,
    return: paymentReturnUrl ?? `${publicUrl}/billing`,
    origins: paymentUrlOrigins.length > 0 ? paymentUrlOrigins : [new URL(publicUrl).origin],
  };
}
