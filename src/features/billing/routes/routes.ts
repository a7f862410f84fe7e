/** The routes by which a tenant buys, and looks at what it bought. */
import type { Offer } from "../../../../actors/billing/catalogue.ts";
import type { CheckoutWish } from "../../../../actors/billing/changes.ts";
import type { ProblemCode } from "../../../../actors/kernel/problem.ts";
import { iso } from "../../../../actors/kernel/time.ts";
import { reply } from "../../../http/answer.ts";
import { IdempotencyHeaders, idempotent } from "../../../http/idempotency.ts";
import { listSchema } from "../../../http/paging.ts";
import { type Call, defineRoute, jsonBody, type Route } from "../../../http/route.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Audit } from "../../audit/port.ts";
import { askingProvider, providerCodes } from "../problems.ts";
import type { Selling } from "../purchases/open.ts";
import { type Purchase, type PurchaseOptions, purchasing } from "../purchases/purchase.ts";
import type { SubscriptionBody } from "../schema.ts";
import { billingGate, billingSubject, payingSubject } from "../subject.ts";
import {
  Checkout,
  InvoiceBody,
  InvoicesQuery,
  NewCheckout,
  NewPortal,
  NewSeats,
  NewTier,
  Portal,
  Prices,
  SeatsChanged,
  TierChanged,
  TierPreview,
  TierWish,
} from "./schema.ts";

export interface PurchaseRouteOptions {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "find">;
  readonly audit: Pick<Audit, "record">;
  /** What a tenant has subscribed, as clients see it. */
  readonly shown: (tenant: string) => Promise<SubscriptionBody>;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
  /** Null: not configured. */
  readonly selling: Selling | null;
}

const subjectCodes = ["billing_not_configured", "owner_only", "tenant_not_found"] as const;
const writerCodes = [...subjectCodes, ...providerCodes, "tenant_not_billable", "service_unavailable"] as const;
const changeCodes = ["no_subscription", "seats_not_available"] as const;
/** A change waits for its turn, and asks the provider several times. */
const writeSeconds = 120;
/** Of reads of the provider: two requests, one after the other. */
const readSeconds = 60;

export function purchaseRoutes(options: PurchaseRouteOptions): readonly Route[] {
  const { sql, tenants, audit, shown, newId, selling } = options;
  const configured = billingGate(selling !== null);

  /** The gate stands before every handler. */
  function open(): Selling {
    if (selling === null) throw new Error("billing is not configured");
    return selling;
  }

  const shared = { tag: "billing", whileSuspended: true, configured } as const;
  const refusing = (...codes: ProblemCode[]) => [...writerCodes, ...codes];

  /** A change under its `Idempotency-Key`, on record. */
  function change<T>(
    call: Call,
    { action, details }: Pick<PurchaseOptions, "action" | "details">,
    does: (purchase: Purchase) => Promise<T>,
  ) {
    return idempotent(
      call,
      sql,
      async (work) => {
        const subject = await payingSubject(call, tenants);
        return reply(200, await purchasing(call, { sql, audit, subject, work, action, details }, does));
      },
      newId,
    );
  }

  return [
    defineRoute({
      ...shared,
      method: "GET",
      path: "/v1/billing/prices",
      summary: "The tiers that are sold, and their prices",
      scope: "billing:read",
      timeoutSeconds: readSeconds,
      responses: { 200: Prices },
      refusals: ["billing_not_configured", ...providerCodes],
      handler: async () => {
        const { catalogue } = await askingProvider(() => open().catalogue.sold());
        const tiers = catalogue.map(({ tier, productId, name, description, includedSeats, base, seat }) => ({
          tier,
          product_id: productId,
          name,
          description,
          included_seats: includedSeats,
          monthly: priceBody(base.month),
          annual: priceBody(base.year),
          seat_monthly: priceBody(seat.month),
          seat_annual: priceBody(seat.year),
        }));
        return { tiers };
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/billing/checkout",
      summary: "Open the provider's page on which a tier is bought",
      scope: "billing:write",
      timeoutSeconds: writeSeconds,
      headers: IdempotencyHeaders,
      body: jsonBody(NewCheckout),
      responses: { 200: Checkout },
      refusals: refusing(
        "unknown_price",
        "seat_price_mismatch",
        "seats_not_available",
        "tier_mismatch",
        "url_not_allowed",
        "subscription_exists",
      ),
      handler: (call) => {
        const { price_id, seat_price_id = null, seats = 0, success_url, cancel_url, tier = null } = call.body;
        const wish: CheckoutWish = { priceId: price_id, seatPriceId: seat_price_id, seats, tier };
        const back = { successUrl: success_url ?? null, cancelUrl: cancel_url ?? null };
        const details = { price_id, seats };
        return change(call, { action: "billing.checkout", details }, async (purchase) => {
          const { url, id, expiresAt } = await open().checkouts.open(purchase, { ...wish, ...back });
          return { url, session_id: id, expires_at: iso(expiresAt.getTime()) };
        });
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/billing/portal",
      summary: "Open the provider's page on which a subscription is looked after",
      scope: "billing:write",
      timeoutSeconds: writeSeconds,
      headers: IdempotencyHeaders,
      body: jsonBody(NewPortal, { optional: true }),
      responses: { 200: Portal },
      refusals: refusing("url_not_allowed"),
      handler: (call) =>
        change(call, { action: "billing.portal", details: {} }, async (purchase) => ({
          url: await open().checkouts.portal(purchase, call.body.return_url ?? null),
        })),
    }),
    defineRoute({
      ...shared,
      method: "GET",
      path: "/v1/billing/invoices",
      summary: "Invoices, newest first",
      scope: "billing:read",
      timeoutSeconds: readSeconds,
      query: InvoicesQuery,
      responses: { 200: listSchema("invoices", InvoiceBody) },
      refusals: [...subjectCodes, ...providerCodes],
      handler: async (call) => {
        const subject = await billingSubject(call, tenants);
        const { limit = 100, cursor = null } = call.query;
        const { rows, next } = await askingProvider(() => open().invoices.page(subject, limit, cursor));
        const items = rows.map(({ amountDue, amountPaid, pdfUrl, hostedUrl, created, ...invoice }) => ({
          ...invoice,
          amount: amountDue,
          amount_due: amountDue,
          amount_paid: amountPaid,
          created: iso(created * 1000),
          pdf_url: pdfUrl,
          hosted_invoice_url: hostedUrl,
        }));
        return { invoices: items, items, count: items.length, next_cursor: next };
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/billing/seats",
      summary: "Set the number of seats beside the included ones",
      scope: "billing:write",
      timeoutSeconds: writeSeconds,
      headers: IdempotencyHeaders,
      body: jsonBody(NewSeats),
      responses: { 200: SeatsChanged },
      refusals: refusing(...changeCodes, "payment_failed", "seat_price_mismatch", "seats_in_use"),
      handler: (call) => {
        const { extra_seats, seat_price_id = null } = call.body;
        return change(call, { action: "billing.seats", details: { extra_seats } }, async (purchase) => {
          const seat_count = await open().changes.changeSeats(purchase, extra_seats, seat_price_id);
          return { success: true as const, extra_seats, seat_count, subscription: await shown(purchase.subject) };
        });
      },
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/billing/preview-tier-change",
      summary: "What a change of the tier would cost, and when it would be",
      scope: "billing:read",
      timeoutSeconds: writeSeconds,
      headers: IdempotencyHeaders,
      body: jsonBody(TierWish),
      responses: { 200: TierPreview },
      refusals: refusing(...changeCodes, "unknown_price"),
      handler: (call) =>
        idempotent(
          call,
          sql,
          async () => {
            const { target_tier, billing_interval, seats } = call.body;
            const wish = { tier: target_tier, interval: billing_interval ?? null, seats: seats ?? null };
            const preview = await open().changes.preview(await payingSubject(call, tenants), wish);
            return reply(200, {
              target_tier,
              action: preview.action,
              proration_amount_cents: preview.due,
              next_renewal_amount_cents: preview.renewal,
              currency: preview.currency,
              effective_at: timeOf(preview.effectiveAt),
              seats: preview.seats,
              proration_date: preview.previewedAt,
            });
          },
          newId,
        ),
    }),
    defineRoute({
      ...shared,
      method: "POST",
      path: "/v1/billing/change-tier",
      summary: "Change the tier, the interval or the number of seats",
      scope: "billing:write",
      timeoutSeconds: writeSeconds,
      headers: IdempotencyHeaders,
      body: jsonBody(NewTier),
      responses: { 200: TierChanged },
      refusals: refusing(...changeCodes, "unknown_price", "payment_failed", "stale_preview", "seats_in_use"),
      handler: (call) => {
        const { target_tier, billing_interval = null, seats = null, proration_date = null } = call.body;
        const wish = { tier: target_tier, interval: billing_interval, seats };
        const details = { target_tier, billing_interval, seats };
        return change(call, { action: "billing.tier_changed", details }, async (purchase) => {
          const changed = await open().changes.changeTier(purchase, wish, proration_date);
          return {
            action: changed.action,
            target_tier,
            seats: changed.seats,
            proration_invoice_id: changed.invoice?.id ?? null,
            proration_amount_cents: changed.invoice?.total ?? 0,
            effective_at: timeOf(changed.effectiveAt),
            subscription: await shown(purchase.subject),
          };
        });
      },
    }),
  ];
}

const priceBody = (offer: Offer | null) =>
  offer === null ? null : { price_id: offer.priceId, amount: offer.amount, currency: offer.currency };

const timeOf = (seconds: number | null): string | null => (seconds === null ? null : iso(seconds * 1000));
