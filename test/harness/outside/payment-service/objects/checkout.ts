/** Checkout sessions: the provider's page on which a person subscribes. */
import type { Stripe } from "stripe";
import type { Account } from "../account.ts";
import type { Subscription } from "../shapes.ts";
import { declined, invalid, noSuch } from "../wire/errors.ts";
import { listed, listParams } from "../wire/lists.ts";
import type { Params } from "../wire/params.ts";
import type { Endpoint } from "../wire/server.ts";
import { customerOf } from "./customers.ts";
import { begin, end, type Wanted, wantedOf } from "./subscriptions/subscription.ts";

type Session = Stripe.Checkout.Session;

const lifeSeconds = 24 * 3600;

export interface Checkouts {
  readonly endpoints: readonly Endpoint[];
  /** What a person does on the page: pays. @throws ApiError 402 where the card is declined; then it is still open */
  complete(session: string): Subscription;
  /** What an open session sells. */
  linesOf(session: string): readonly Wanted[];
  expire(session: Session): void;
}

export function checkouts(account: Account): Checkouts {
  const lines = new Map<string, { readonly items: readonly Wanted[]; readonly metadata: Record<string, string> }>();

  function sessionOf(id: string): Session {
    const session = account.checkouts.get(id);
    if (session === undefined) throw noSuch("checkout.session", id);
    return session;
  }

  function create(params: Params): Session {
    const customer = customerOf(account, params.requireText("customer"), "customer");
    if (params.requireText("mode") !== "subscription") throw invalid("Invalid mode", "mode");
    const items = wantedOf(account, params.objects("line_items") ?? [], ["price", "quantity"]);
    if (items.length === 0) throw invalid("Missing required param: line_items.", "line_items", "parameter_missing");
    if (items.some(({ price }) => price.recurring === null)) throw invalid("Prices must be recurring.", "line_items");
    if (new Set(items.map(({ price }) => price.recurring?.interval)).size > 1) {
      throw invalid("Checkout does not support multiple prices with different billing intervals.", "line_items");
    }
    const id = account.newId("cs_test");
    const total = items.reduce((sum, { price, quantity }) => sum + (price.unit_amount ?? 0) * quantity, 0);
    const data = params.object("subscription_data")?.only(["metadata"]);
    lines.set(id, { items, metadata: data?.metadata() ?? {} });
    const session = sessionMade(account, id, {
      customer: customer.id,
      email: customer.email,
      total,
      currency: items[0]?.price.currency ?? "usd",
      allowsCodes: params.flag("allow_promotion_codes"),
      reference: params.text("client_reference_id"),
      metadata: params.metadata(),
      successUrl: params.requireText("success_url"),
      cancelUrl: params.text("cancel_url"),
    });
    account.checkouts.set(id, session);
    return session;
  }

  function list(params: Params) {
    const customer = params.text("customer");
    const status = params.text("status");
    const rows = [...account.checkouts.values()].filter(
      (row) => (customer === null || row.customer === customer) && (status === null || row.status === status),
    );
    return listed("/v1/checkout/sessions", rows, params);
  }

  function expire(session: Session): void {
    session.status = "expired";
    session.url = null;
    account.emit("checkout.session.expired", session, String(session.customer));
  }

  return {
    endpoints: [
      {
        method: "POST",
        path: "/v1/checkout/sessions",
        accepts: [
          "mode",
          "customer",
          "line_items",
          "success_url",
          "cancel_url",
          "allow_promotion_codes",
          "client_reference_id",
          "metadata",
          "subscription_data",
        ],
        run: create,
      },
      {
        method: "GET",
        path: "/v1/checkout/sessions",
        accepts: [...listParams, "customer", "status"],
        run: list,
      },
      { method: "GET", path: "/v1/checkout/sessions/:id", accepts: [], run: (_params, id) => sessionOf(id) },
      {
        method: "POST",
        path: "/v1/checkout/sessions/:id/expire",
        accepts: [],
        run: (_params, id) => {
          const session = sessionOf(id);
          if (session.status !== "open") {
            throw invalid(
              `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`,
            );
          }
          expire(session);
          return session;
        },
      },
    ],
    complete(id) {
      const session = sessionOf(id);
      if (session.status !== "open") throw invalid("This session is not open any more.");
      const { items, metadata } = lines.get(id) ?? { items: [], metadata: {} };
      const subscription = begin(account, { customer: String(session.customer), items, metadata });
      if (subscription.status !== "active") {
        // The page keeps the person until a card works; an abandoned attempt leaves no subscription.
        end(account, subscription, "payment_failed");
        account.subscriptions.delete(subscription.id);
        throw declined();
      }
      session.status = "complete";
      session.payment_status = "paid";
      session.subscription = subscription.id;
      session.invoice = subscription.latest_invoice;
      session.url = null;
      account.emit("checkout.session.completed", session, String(session.customer));
      return subscription;
    },
    linesOf: (id) => lines.get(id)?.items ?? [],
    expire,
  };
}

interface Made {
  readonly customer: string;
  readonly email: string | null;
  readonly total: number;
  readonly currency: string;
  readonly allowsCodes: boolean | null;
  readonly reference: string | null;
  readonly metadata: Record<string, string>;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
}

function sessionMade(account: Account, id: string, made: Made): Session {
  const now = account.now(made.customer);
  const customer_details = {
    address: null,
    business_name: null,
    email: made.email,
    individual_name: null,
    name: null,
    phone: null,
    tax_exempt: "none" as const,
    tax_ids: [],
  };
  return {
    id,
    object: "checkout.session",
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: made.allowsCodes,
    allowed_payment_method_types: null,
    amount_subtotal: made.total,
    amount_total: made.total,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: made.cancelUrl,
    client_reference_id: made.reference,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: now,
    currency: made.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
    customer: made.customer,
    customer_account: null,
    customer_creation: null,
    customer_details,
    customer_email: null,
    discounts: [],
    expires_at: now + lifeSeconds,
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: false,
    locale: null,
    managed_payments: null,
    metadata: made.metadata,
    mode: "subscription",
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "always",
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ["card"],
    payment_status: "unpaid",
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: "open",
    submit_type: null,
    subscription: null,
    success_url: made.successUrl,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: null,
    url: `https://checkout.provider.test/c/pay/${id}`,
    wallet_options: null,
  };
}
