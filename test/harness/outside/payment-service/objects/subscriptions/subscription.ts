/** A subscription with its items, as the provider makes it. */
import type { Account } from "../../account.ts";
import type { Item, Price, Subscription } from "../../shapes.ts";
import { invalid } from "../../wire/errors.ts";
import type { Params } from "../../wire/params.ts";
import { planOf, priceOf } from "../catalogue.ts";
import { customerOf } from "../customers.ts";
import { charge, invoiceOf, voidInvoice } from "../invoices/invoice.ts";
import { periodEnd } from "./period.ts";
import { fullCharges } from "./proration.ts";

export interface Wanted {
  readonly price: Price;
  readonly quantity: number;
}

/** Prices and quantities of `items` or `line_items`. */
export function wantedOf(account: Account, rows: readonly Params[], accepts: readonly string[]): Wanted[] {
  return rows.map((row) => {
    row.only(accepts);
    const price = priceOf(account, row.requireText("price"), "items[price]");
    if (!price.active) throw invalid(`The price specified is inactive: ${price.id}`, "items");
    return { price, quantity: row.integer("quantity") ?? 1 };
  });
}

export function itemOf(account: Account, subscription: string, { price, quantity }: Wanted, start: number): Item {
  return {
    id: account.newId("si"),
    object: "subscription_item",
    billing_thresholds: null,
    created: start,
    current_period_end: periodEnd(start, price),
    current_period_start: start,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}

export interface Beginning {
  readonly customer: string;
  readonly items: readonly Wanted[];
  readonly metadata: Record<string, string>;
}

/** Makes it, with its first invoice; `incomplete` where that is not paid. */
export function begin(account: Account, { customer, items: wanted, metadata }: Beginning): Subscription {
  const [first] = wanted;
  if (first === undefined) throw invalid("Missing required param: items.", "items", "parameter_missing");
  const now = account.now(customer);
  const id = account.newId("sub");
  const items = wanted.map((one) => itemOf(account, id, one, now));
  const subscription = subscriptionOf(account, id, customer, items, metadata, now);
  account.subscriptions.set(id, subscription);
  const invoice = invoiceOf(account, subscription, fullCharges(items), "subscription_create");
  subscription.latest_invoice = invoice.id;
  const isPaid = charge(account, invoice);
  subscription.status = isPaid ? "active" : "incomplete";
  account.emit("customer.subscription.created", subscription, customer);
  return subscription;
}

function subscriptionOf(
  account: Account,
  id: string,
  customer: string,
  items: Item[],
  metadata: Record<string, string>,
  now: number,
): Subscription {
  return {
    id,
    object: "subscription",
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: now,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: { proration_discounts: "included" }, type: "flexible" },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: "charge_automatically",
    created: now,
    currency: items[0]?.price.currency ?? "usd",
    customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: "self" },
    },
    items: { object: "list", data: items, has_more: false, url: `/v1/subscription_items?subscription=${id}` },
    latest_invoice: null,
    livemode: false,
    managed_payments: null,
    metadata,
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: "off" },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: now,
    status: "incomplete",
    test_clock: customerOf(account, customer, "customer").test_clock,
    transfer_data: null,
    trial_end: null,
    trial_settings: { end_behavior: { billing_cycle_anchor: null, missing_payment_method: "create_invoice" } },
    trial_start: null,
  };
}

/** Ends it now. Its schedule ends with it, and an update that waits for its payment is dropped. */
export function end(
  account: Account,
  subscription: Subscription,
  reason: "cancellation_requested" | "payment_failed",
): void {
  const now = account.now(subscription.customer);
  dropPendingUpdate(account, subscription);
  const schedule = typeof subscription.schedule === "string" ? account.schedules.get(subscription.schedule) : undefined;
  if (schedule !== undefined) Object.assign(schedule, { status: "canceled", canceled_at: now, current_phase: null });
  subscription.schedule = null;
  subscription.status = "canceled";
  subscription.canceled_at ??= now;
  subscription.ended_at = now;
  subscription.cancellation_details = { comment: null, feedback: null, feedback_option: null, reason };
  account.pendingCharges.delete(subscription.id);
  account.emit("customer.subscription.deleted", subscription, subscription.customer);
}

/** Forgets the update that waited for its payment, and voids its invoice. */
export function dropPendingUpdate(account: Account, subscription: Subscription): void {
  if (subscription.pending_update === null) return;
  subscription.pending_update = null;
  if (subscription.latest_invoice !== null) voidInvoice(account, subscription.latest_invoice);
}
