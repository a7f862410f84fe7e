/** What comes due as time goes on: renewals, ends, phases, further attempts at payment, what waited too long. */
import type { Account } from "./account.ts";
import { planOf, priceOf } from "./objects/catalogue.ts";
import type { Checkouts } from "./objects/checkout.ts";
import { charge, collect, invoiceOf, voidInvoice } from "./objects/invoices/invoice.ts";
import { settled } from "./objects/subscriptions/change.ts";
import { nextEnd, periodEnd } from "./objects/subscriptions/period.ts";
import { fullCharges } from "./objects/subscriptions/proration.ts";
import { dropPendingUpdate, end, itemOf } from "./objects/subscriptions/subscription.ts";
import type { Invoice, Subscription } from "./shapes.ts";

/** Between attempts at an invoice of a renewal, days after the first. */
const attemptDays = [3, 5, 7];
const daySeconds = 86_400;
/** How long a first payment may be made up for. */
const incompleteSeconds = 23 * 3600;

interface Due {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Goes on to `to`, step by step.
 * @param isMoved which customers' time it is
 * @param set     is told the time of each step before it happens
 */
export function advance(
  account: Account,
  sessions: Pick<Checkouts, "expire">,
  to: number,
  isMoved: (customer: string) => boolean,
  set: (at: number) => void,
): void {
  for (;;) {
    const due = [...dues(account, sessions, isMoved)]
      .filter(({ at }) => at <= to)
      .sort((one, other) => one.at - other.at);
    const [next] = due;
    if (next === undefined) break;
    set(next.at);
    next.run();
  }
  set(to);
}

function* dues(
  account: Account,
  sessions: Pick<Checkouts, "expire">,
  isMoved: (customer: string) => boolean,
): Generator<Due> {
  for (const subscription of account.subscriptions.values()) {
    if (!isMoved(subscription.customer) || subscription.ended_at !== null) continue;
    yield* duesOf(account, subscription);
  }
  for (const session of account.checkouts.values()) {
    if (session.status === "open" && isMoved(String(session.customer))) {
      yield { at: session.expires_at, run: () => sessions.expire(session) };
    }
  }
}

function* duesOf(account: Account, subscription: Subscription): Generator<Due> {
  const { status, pending_update, latest_invoice } = subscription;
  if (status === "incomplete") {
    yield { at: subscription.created + incompleteSeconds, run: () => expireIncomplete(account, subscription) };
    return;
  }
  if (pending_update !== null) {
    yield { at: pending_update.expires_at, run: () => expireUpdate(account, subscription) };
  }
  const invoice = latest_invoice === null ? undefined : account.invoices.get(latest_invoice);
  if (invoice?.status === "open" && invoice.next_payment_attempt !== null) {
    yield { at: invoice.next_payment_attempt, run: () => tryAgain(account, subscription, invoice) };
  }
  if (subscription.cancel_at !== null) {
    yield { at: subscription.cancel_at, run: () => end(account, subscription, "cancellation_requested") };
  }
  yield { at: nextEnd(subscription.items.data), run: () => renew(account, subscription) };
}

function expireIncomplete(account: Account, subscription: Subscription): void {
  subscription.status = "incomplete_expired";
  subscription.ended_at = account.now(subscription.customer);
  if (subscription.latest_invoice !== null) voidInvoice(account, subscription.latest_invoice);
  account.emit("customer.subscription.updated", subscription, subscription.customer);
}

function expireUpdate(account: Account, subscription: Subscription): void {
  dropPendingUpdate(account, subscription);
  account.emit("customer.subscription.pending_update_expired", subscription, subscription.customer);
  account.emit("customer.subscription.updated", subscription, subscription.customer);
}

function tryAgain(account: Account, subscription: Subscription, invoice: Invoice): void {
  const days = attemptDays[invoice.attempt_count];
  invoice.next_payment_attempt = null;
  if (collect(account, invoice)) {
    settled(account, subscription, invoice.id);
    return;
  }
  if (days !== undefined) {
    invoice.next_payment_attempt = invoice.created + days * daySeconds;
    return;
  }
  end(account, subscription, "payment_failed");
}

/** The end of a period: the end of the subscription, or its next period with what its schedule says. */
function renew(account: Account, subscription: Subscription): void {
  const { customer } = subscription;
  dropPendingUpdate(account, subscription);
  const start = nextEnd(subscription.items.data);
  enterPhase(account, subscription, start);
  for (const item of subscription.items.data) {
    item.current_period_start = start;
    item.current_period_end = periodEnd(start, item.price, subscription.billing_cycle_anchor);
  }
  const waiting = account.pendingCharges.get(subscription.id) ?? [];
  account.pendingCharges.delete(subscription.id);
  const charges = [...waiting, ...fullCharges(subscription.items.data)];
  const invoice = invoiceOf(account, subscription, charges, "subscription_cycle");
  subscription.latest_invoice = invoice.id;
  const isPaid = charge(account, invoice);
  if (!isPaid) {
    subscription.status = "past_due";
    invoice.next_payment_attempt = invoice.created + (attemptDays[0] ?? 0) * daySeconds;
  }
  account.emit("customer.subscription.updated", subscription, customer);
}

/** Takes the items of the phase that begins there; after the last one the schedule lets go. */
function enterPhase(account: Account, subscription: Subscription, start: number): void {
  const schedule = typeof subscription.schedule === "string" ? account.schedules.get(subscription.schedule) : undefined;
  if (schedule === undefined) return;
  const phase = schedule.phases.find((one) => one.start_date === start);
  if (phase === undefined) {
    if (schedule.phases.some((one) => one.end_date > start)) return;
    Object.assign(schedule, {
      status: "completed",
      completed_at: start,
      current_phase: null,
      released_subscription: subscription.id,
    });
    subscription.schedule = null;
    account.emit("subscription_schedule.completed", schedule, subscription.customer);
    return;
  }
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date };
  const former = subscription.items.data;
  const prices = new Set(phase.items.map(({ price }) => String(price)));
  // A price keeps its item; others take the items whose prices are gone.
  const free = former.filter((item) => !prices.has(item.price.id));
  subscription.items.data = phase.items.map(({ price, quantity = 1 }) => {
    const wanted = { price: priceOf(account, String(price), "price"), quantity };
    const place = former.find((item) => item.price.id === wanted.price.id) ?? free.shift();
    if (place === undefined) return itemOf(account, subscription.id, wanted, start);
    return { ...place, ...wanted, plan: planOf(wanted.price) };
  });
  subscription.billing_cycle_anchor = start;
  account.emit("subscription_schedule.updated", schedule, subscription.customer);
}
