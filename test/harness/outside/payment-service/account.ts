/** What the provider keeps of one account, and its time. */
import type { Stripe } from "stripe";
import type { Charge } from "./objects/subscriptions/proration.ts";
import type { Customer, Invoice, Price, ProviderEvent, Subscription } from "./shapes.ts";

export class Account {
  readonly products = new Map<string, Stripe.Product>();
  readonly prices = new Map<string, Price>();
  readonly customers = new Map<string, Customer>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly schedules = new Map<string, Stripe.SubscriptionSchedule>();
  readonly checkouts = new Map<string, Stripe.Checkout.Session>();
  readonly portals = new Map<string, Stripe.BillingPortal.Session>();
  readonly clocks = new Map<string, Stripe.TestHelpers.TestClock>();
  readonly meterEvents = new Map<string, Stripe.Billing.MeterEvent>();
  readonly events: ProviderEvent[] = [];
  /** Of a subscription, for its next invoice. */
  readonly pendingCharges = new Map<string, Charge[]>();
  /** Customers whose card is declined. */
  readonly declining = new Set<string>();
  #shift = 0;
  #ids = 0;
  #told: (event: ProviderEvent) => void = () => {};

  constructor(readonly apiVersion: string) {}

  /** Unix seconds; of a customer on a test clock, that clock's. */
  now(customer: string | null = null): number {
    const clock = customer === null ? null : (this.customers.get(customer)?.test_clock ?? null);
    const frozen = clock === null ? undefined : this.clocks.get(clock)?.frozen_time;
    return frozen ?? Math.floor(Date.now() / 1000) + this.#shift;
  }

  /** The time of everything that is on no test clock, so many seconds on. */
  shift(seconds: number): void {
    this.#shift += seconds;
  }

  newId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids).padStart(6, "0")}${crypto.randomUUID().slice(0, 8)}`;
  }

  onEvent(told: (event: ProviderEvent) => void): void {
    this.#told = told;
  }

  /** Records what happened, with the object as it is now. */
  emit(type: string, object: object, customer: string | null = null): void {
    const event: ProviderEvent = {
      id: this.newId("evt"),
      object: "event",
      api_version: this.apiVersion,
      created: this.now(customer),
      data: { object: structuredClone(object) },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    };
    this.events.push(event);
    this.#told(event);
  }

  /** What an id names; null for an unknown one. */
  find(id: string): object | null {
    const all = [
      this.products,
      this.prices,
      this.customers,
      this.subscriptions,
      this.invoices,
      this.schedules,
      this.checkouts,
    ];
    for (const objects of all) {
      const found = objects.get(id);
      if (found !== undefined) return found;
    }
    return null;
  }
}
