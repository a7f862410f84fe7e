/** Invoices of subscriptions: made, paid or declined, voided. */
import type { Account } from "../../account.ts";
import type { Invoice, Line, Subscription } from "../../shapes.ts";
import { customerOf } from "../customers.ts";
import type { Charge } from "../subscriptions/proration.ts";

export type Reason = "subscription_create" | "subscription_cycle" | "subscription_update" | "upcoming";

function lineOf(account: Account, subscription: Subscription, invoice: string | null, charge: Charge): Line {
  const { item, amount, quantity, from, to, isProration } = charge;
  return {
    id: account.newId("il"),
    object: "line_item",
    amount,
    currency: item.price.currency,
    description: `${quantity} × ${item.price.id}`,
    discount_amounts: [],
    discountable: !isProration,
    discounts: [],
    invoice,
    livemode: false,
    metadata: {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: isProration,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: "subscription_item_details",
    },
    period: { start: from, end: to },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: item.price.id, product: String(item.price.product) },
      type: "price_details",
      unit_amount_decimal: item.price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: String(quantity),
    subscription: subscription.id,
    subtotal: amount,
    taxes: [],
  };
}

/** An invoice that is not kept; a negative total goes to the customer's balance once it is finalized. */
export function invoiceOf(
  account: Account,
  subscription: Subscription,
  charges: readonly Charge[],
  reason: Reason,
  prorationDate: number | null = null,
): Invoice {
  const now = account.now(subscription.customer);
  const id = account.newId("in");
  const customer = customerOf(account, subscription.customer, "customer");
  const lines = charges.map((charge) => lineOf(account, subscription, id, charge));
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  // A credit of the customer's is a negative balance.
  const due = Math.max(0, total + Math.min(0, customer.balance));
  return {
    id,
    object: "invoice",
    account_country: "US",
    account_name: "Local",
    account_tax_ids: null,
    amount_due: due,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: due,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: reason,
    collection_method: "charge_automatically",
    created: now,
    currency: subscription.currency,
    custom_fields: null,
    customer: subscription.customer,
    customer_account: null,
    customer_address: null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: "none",
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: "self" },
    last_finalization_error: null,
    latest_revision: null,
    lines: { object: "list", data: lines, has_more: false, url: `/v1/invoices/${id}/lines` },
    livemode: false,
    metadata: {},
    next_payment_attempt: null,
    number: null,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: {
        metadata: subscription.metadata,
        subscription: subscription.id,
        ...(prorationDate === null ? {} : { subscription_proration_date: prorationDate }),
      },
      type: "subscription_details",
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: now,
    period_start: now,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: customer.balance,
    statement_descriptor: null,
    status: "draft",
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal: total,
    subtotal_excluding_tax: total,
    test_clock: customer.test_clock,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: null,
  };
}

/** Finalizes it, keeps it, and takes the money. @returns whether it is paid */
export function charge(account: Account, invoice: Invoice): boolean {
  const customer = customerOf(account, invoice.customer, "customer");
  invoice.status = "open";
  invoice.number = `${customer.invoice_prefix}-${String(account.invoices.size + 1).padStart(4, "0")}`;
  invoice.status_transitions.finalized_at = account.now(invoice.customer);
  invoice.hosted_invoice_url = `https://invoice.provider.test/i/${invoice.id}`;
  invoice.invoice_pdf = `https://invoice.provider.test/i/${invoice.id}/pdf`;
  customer.balance += invoice.amount_due - invoice.total;
  invoice.ending_balance = customer.balance;
  account.invoices.set(invoice.id, invoice);
  account.emit("invoice.created", invoice, invoice.customer);
  account.emit("invoice.finalized", invoice, invoice.customer);
  return collect(account, invoice);
}

/** One attempt at the customer's card. @returns whether it is paid */
export function collect(account: Account, invoice: Invoice): boolean {
  const now = account.now(invoice.customer);
  if (invoice.amount_due > 0) {
    invoice.attempted = true;
    invoice.attempt_count += 1;
    if (account.declining.has(invoice.customer)) {
      account.emit("invoice.payment_failed", invoice, invoice.customer);
      return false;
    }
  }
  invoice.status = "paid";
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = now;
  account.emit("invoice.paid", invoice, invoice.customer);
  if (invoice.amount_due > 0) account.emit("invoice.payment_succeeded", invoice, invoice.customer);
  return true;
}

export function voidInvoice(account: Account, id: string): void {
  const invoice = account.invoices.get(id);
  if (invoice?.status !== "open") return;
  invoice.status = "void";
  invoice.status_transitions.voided_at = account.now(invoice.customer);
  account.emit("invoice.voided", invoice, invoice.customer);
}
