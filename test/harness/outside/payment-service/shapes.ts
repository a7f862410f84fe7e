/** What the provider keeps and sends, by the types of its own library. */
import type { Stripe } from "stripe";

/** The library gives decimals as objects; on the wire they are text. */
type Wire<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]: string | null };
export type Price = Wire<Stripe.Price, "unit_amount_decimal">;
export type Plan = Wire<Stripe.Plan, "amount_decimal">;
export type Item = Omit<Stripe.SubscriptionItem, "price" | "plan"> & { price: Price; plan: Plan; quantity: number };
export type Subscription = Omit<Stripe.Subscription, "items" | "pending_update" | "customer" | "latest_invoice"> & {
  items: Stripe.ApiList<Item>;
  pending_update:
    | (Omit<Stripe.Subscription.PendingUpdate, "subscription_items"> & { subscription_items: Item[] | null })
    | null;
  customer: string;
  latest_invoice: string | null;
};
export type Line = Omit<Stripe.InvoiceLineItem, "pricing" | "quantity_decimal"> & {
  quantity_decimal: string | null;
  pricing: Wire<Stripe.InvoiceLineItem.Pricing, "unit_amount_decimal"> | null;
};
export type Invoice = Omit<Stripe.Invoice, "lines" | "customer"> & { lines: Stripe.ApiList<Line>; customer: string };
export type Customer = Stripe.Customer & { test_clock: string | null };
/** What an event is of, with what happened to it. */
export interface ProviderEvent {
  readonly id: string;
  readonly object: "event";
  readonly api_version: string;
  readonly created: number;
  readonly data: { readonly object: object; readonly previous_attributes?: object };
  readonly livemode: false;
  readonly pending_webhooks: number;
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null };
  readonly type: string;
}
