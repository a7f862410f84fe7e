/** Changes of a subscription: items, payment behaviours, updates that wait for their payment. */
import type { Account } from "../../account.ts";
import type { Item, Subscription } from "../../shapes.ts";
import { declined, invalid, noSuch } from "../../wire/errors.ts";
import type { Params } from "../../wire/params.ts";
import { planOf, priceOf } from "../catalogue.ts";
import { charge, invoiceOf } from "../invoices/invoice.ts";
import { isSameInterval, periodEnd } from "./period.ts";
import { changesInterval, prorations } from "./proration.ts";
import { dropPendingUpdate, itemOf } from "./subscription.ts";

const itemParams = ["id", "price", "quantity", "deleted"];
export const prorationBehaviors = ["create_prorations", "always_invoice", "none"] as const;
const paymentBehaviors = ["allow_incomplete", "error_if_incomplete", "pending_if_incomplete"] as const;
/** What an update may hold that waits for its payment. */
const pendable = [
  "items",
  "proration_behavior",
  "proration_date",
  "payment_behavior",
  "cancel_at_period_end",
  "expand",
];
const pendingSeconds = 23 * 3600;

/** The items as `items` of the request changes them; where the interval changes, in a period from `now`. */
export function changedItems(
  account: Account,
  subscription: Subscription,
  rows: readonly Params[],
  now: number,
): Item[] {
  let items = [...subscription.items.data];
  for (const row of rows) {
    row.only(itemParams);
    const id = row.text("id");
    const former = id === null ? null : items.find((item) => item.id === id);
    if (former === undefined) throw noSuch("subscription item", String(id), "items[id]");
    if (former !== null && row.flag("deleted") === true) {
      items = items.filter((item) => item !== former);
      continue;
    }
    const priceId = row.text("price");
    if (former === null && priceId === null) {
      throw invalid("Missing required param: items[price].", "items[price]", "parameter_missing");
    }
    const price = priceId === null ? (former as Item).price : priceOf(account, priceId, "items[price]");
    // Another price alone sets the quantity to 1.
    const kept = former !== null && former.price.id === price.id ? former.quantity : 1;
    const quantity = row.integer("quantity") ?? kept;
    const start = items[0]?.current_period_start ?? now;
    const changed =
      former === null
        ? { ...itemOf(account, subscription.id, { price, quantity }, start), created: now }
        : { ...former, price, plan: planOf(price), quantity };
    items = former === null ? [...items, changed] : items.map((item) => (item === former ? changed : item));
  }
  if (items.length === 0) throw invalid("A subscription must have at least one active item.", "items");
  if (new Set(items.map(({ price }) => price.id)).size < items.length) {
    throw invalid("Cannot add multiple subscription items with the same plan", "items");
  }
  const [first] = items;
  if (first === undefined || items.some(({ price }) => !isSameInterval(price, first.price))) {
    throw invalid("This provider's double has one interval for all items of a subscription.", "items");
  }
  if (!changesInterval(subscription.items.data, items)) {
    const { current_period_start, current_period_end } = subscription.items.data[0] ?? first;
    return items.map((item) => ({ ...item, current_period_start, current_period_end }));
  }
  return items.map((item) => ({
    ...item,
    current_period_start: now,
    current_period_end: periodEnd(now, item.price),
  }));
}

/** The proration's date, which must lie in the current period. */
export function prorationDate(params: Params, subscription: Subscription, now: number): number {
  const at = params.integer("proration_date") ?? now;
  const [item] = subscription.items.data;
  if (item !== undefined && (at < item.current_period_start || at > item.current_period_end)) {
    throw invalid("The proration date must be within the current billing period.", "proration_date");
  }
  return at;
}

/** `POST /v1/subscriptions/:id`. */
export function update(account: Account, subscription: Subscription, params: Params): Subscription {
  const { customer } = subscription;
  if (subscription.status === "canceled" || subscription.status === "incomplete_expired") {
    throw invalid("A canceled subscription can only update its cancellation_details and metadata.");
  }
  const rows = params.objects("items");
  if (
    subscription.schedule !== null &&
    (rows !== null || params.has("cancel_at_period_end") || params.has("cancel_at"))
  ) {
    throw invalid(`The subscription is managed by the subscription schedule \`${subscription.schedule}\`.`);
  }
  const behavior = params.choice("payment_behavior", paymentBehaviors, "allow_incomplete");
  if (behavior === "pending_if_incomplete") params.only(pendable);
  const cancelAtEnd = params.flag("cancel_at_period_end");
  if (rows === null) {
    if (cancelAtEnd !== null) setCancellation(account, subscription, cancelAtEnd);
    if (params.has("cancel_at")) setCancelAt(account, subscription, params.integer("cancel_at"));
    subscription.metadata = params.metadata(subscription.metadata);
    account.emit("customer.subscription.updated", subscription, customer);
    return subscription;
  }
  const now = account.now(customer);
  const at = prorationDate(params, subscription, now);
  const items = changedItems(account, subscription, rows, now);
  const proration = params.choice("proration_behavior", prorationBehaviors, "create_prorations");
  dropPendingUpdate(account, subscription);
  const charges = prorations(subscription.items.data, items, at).filter(
    (one) => proration !== "none" || !one.isProration,
  );
  const isNewPeriod = changesInterval(subscription.items.data, items);
  const isInvoiced = isNewPeriod || (proration === "always_invoice" && charges.length > 0);
  const apply = () => {
    subscription.items.data = items;
    if (isNewPeriod) subscription.billing_cycle_anchor = now;
    if (cancelAtEnd !== null) setCancellation(account, subscription, cancelAtEnd);
    subscription.metadata = params.metadata(subscription.metadata);
  };
  if (!isInvoiced) {
    account.pendingCharges.set(subscription.id, [...(account.pendingCharges.get(subscription.id) ?? []), ...charges]);
    apply();
    account.emit("customer.subscription.updated", subscription, customer);
    return subscription;
  }
  const invoice = invoiceOf(account, subscription, charges, "subscription_update", at);
  if (behavior === "error_if_incomplete" && invoice.amount_due > 0 && account.declining.has(customer)) throw declined();
  if (behavior === "allow_incomplete") apply();
  const isPaid = charge(account, invoice);
  subscription.latest_invoice = invoice.id;
  if (isPaid && behavior !== "allow_incomplete") apply();
  if (!isPaid && behavior === "allow_incomplete") subscription.status = "past_due";
  if (!isPaid && behavior === "pending_if_incomplete") {
    const periodEndsAt = subscription.items.data[0]?.current_period_end ?? now;
    subscription.pending_update = {
      billing_cycle_anchor: null,
      cancel_at_period_end: cancelAtEnd,
      discount: null,
      discounts: null,
      expires_at: Math.min(now + pendingSeconds, periodEndsAt),
      metadata: null,
      subscription_items: items,
      trial_end: null,
      trial_from_plan: null,
    };
  }
  account.emit("customer.subscription.updated", subscription, customer);
  return subscription;
}

function setCancellation(account: Account, subscription: Subscription, isWanted: boolean): void {
  subscription.cancel_at_period_end = isWanted;
  subscription.cancel_at = isWanted ? (subscription.items.data[0]?.current_period_end ?? null) : null;
  subscription.canceled_at = isWanted ? account.now(subscription.customer) : null;
  const reason = isWanted ? ("cancellation_requested" as const) : null;
  subscription.cancellation_details = { comment: null, feedback: null, feedback_option: null, reason };
}

function setCancelAt(account: Account, subscription: Subscription, at: number | null): void {
  setCancellation(account, subscription, at !== null);
  subscription.cancel_at_period_end = false;
  subscription.cancel_at = at;
}

/** What follows from an invoice that is paid later than it was made. */
export function settled(account: Account, subscription: Subscription, invoice: string): void {
  if (subscription.latest_invoice !== invoice) return;
  const { pending_update } = subscription;
  if (pending_update !== null) {
    subscription.pending_update = null;
    subscription.items.data = pending_update.subscription_items ?? subscription.items.data;
    if (pending_update.cancel_at_period_end !== null) {
      setCancellation(account, subscription, pending_update.cancel_at_period_end);
    }
    account.emit("customer.subscription.pending_update_applied", subscription, subscription.customer);
  } else if (["incomplete", "past_due", "unpaid"].includes(subscription.status)) subscription.status = "active";
  else return;
  account.emit("customer.subscription.updated", subscription, subscription.customer);
}
