/** What may be asked of invoices; previews among it. */
import type { Account } from "../../account.ts";
import type { Invoice } from "../../shapes.ts";
import { declined, invalid, noSuch } from "../../wire/errors.ts";
import { listed, listParams } from "../../wire/lists.ts";
import type { Params } from "../../wire/params.ts";
import type { Endpoint } from "../../wire/server.ts";
import { changedItems, prorationBehaviors, prorationDate, settled } from "../subscriptions/change.ts";
import { subscriptionOfId } from "../subscriptions/endpoints.ts";
import { nextEnd, periodEnd } from "../subscriptions/period.ts";
import { changesInterval, fullCharges, prorations } from "../subscriptions/proration.ts";
import { collect, invoiceOf } from "./invoice.ts";

/** Tries the card again, as a person does on the page of the invoice. @throws ApiError 402 */
export function pay(account: Account, id: string): Invoice {
  const invoice = invoiceOfId(account, id);
  if (invoice.status !== "open") throw invalid("Invoice is not open", "id");
  if (!collect(account, invoice)) throw declined();
  const subscription = account.subscriptions.get(String(invoice.parent?.subscription_details?.subscription));
  if (subscription !== undefined) settled(account, subscription, id);
  return invoice;
}

function invoiceOfId(account: Account, id: string): Invoice {
  const invoice = account.invoices.get(id);
  if (invoice === undefined) throw noSuch("invoice", id);
  return invoice;
}

export function invoices(account: Account): readonly Endpoint[] {
  function list(params: Params) {
    const customer = params.text("customer");
    const subscription = params.text("subscription");
    const status = params.text("status");
    const rows = [...account.invoices.values()].filter(
      (row) =>
        (customer === null || row.customer === customer) &&
        (subscription === null || row.parent?.subscription_details?.subscription === subscription) &&
        (status === null || row.status === status),
    );
    return listed("/v1/invoices", rows, params);
  }

  /** The next invoice of a subscription, or the one that a change of it would make. */
  function preview(params: Params): Invoice {
    const subscription = subscriptionOfId(account, params.requireText("subscription"), "subscription");
    const customer = params.text("customer");
    if (customer !== null && customer !== subscription.customer) throw noSuch("customer", customer, "customer");
    if (subscription.status === "canceled")
      throw invalid("No upcoming invoices", "subscription", "invoice_upcoming_none");
    const details = params.object("subscription_details");
    details?.only(["items", "proration_behavior", "proration_date"]);
    const rows = details?.objects("items") ?? [];
    const now = account.now(subscription.customer);
    const former = subscription.items.data;
    const items = changedItems(account, subscription, rows, now);
    const starts = nextEnd(items);
    const renewed = items.map((item) => ({
      ...item,
      current_period_start: starts,
      current_period_end: periodEnd(starts, item.price),
    }));
    if (params.choice("preview_mode", ["next", "recurring"], "next") === "recurring") {
      return invoiceOf(account, subscription, fullCharges(renewed), "upcoming");
    }
    if (rows.length === 0 && subscription.cancel_at_period_end) {
      throw invalid("No upcoming invoices", "subscription", "invoice_upcoming_none");
    }
    const behavior =
      details?.choice("proration_behavior", prorationBehaviors, "create_prorations") ?? "create_prorations";
    const at = details === null ? now : prorationDate(details, subscription, now);
    const charges = prorations(former, items, at).filter((one) => behavior !== "none" || !one.isProration);
    const isNow = changesInterval(former, items) || behavior === "always_invoice";
    const waiting = account.pendingCharges.get(subscription.id) ?? [];
    const all = isNow ? charges : [...waiting, ...charges, ...fullCharges(renewed)];
    return invoiceOf(account, subscription, all, "upcoming", at);
  }

  return [
    { method: "GET", path: "/v1/invoices", accepts: [...listParams, "customer", "subscription", "status"], run: list },
    {
      method: "POST",
      path: "/v1/invoices/create_preview",
      accepts: ["customer", "subscription", "subscription_details", "preview_mode"],
      run: preview,
    },
    { method: "GET", path: "/v1/invoices/:id", accepts: [], run: (_params, id) => invoiceOfId(account, id) },
    { method: "POST", path: "/v1/invoices/:id/pay", accepts: [], run: (_params, id) => pay(account, id) },
  ];
}
