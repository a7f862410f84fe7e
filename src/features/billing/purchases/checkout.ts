/** Checkouts and the portal: pages of the provider on which a person pays, or looks after what is paid. */
import { type CheckoutWish, checkoutLines, isAllowedUrl, isInTheWay } from "../../../../actors/billing/changes.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type Payment, PaymentFailure } from "../../../adapters/payment/port.ts";
import type { CatalogueService } from "../catalogue/service.ts";
import { askingProvider, requireSold } from "../problems.ts";
import { expireOpenSessions } from "../subscriptions/sessions.ts";
import type { Customers } from "./customers.ts";
import { type Purchase, stepKey } from "./purchase.ts";
import type { InTurn } from "./turns.ts";

/** Where the provider's pages lead back to. */
export interface Places {
  readonly success: string;
  readonly cancel: string;
  readonly return: string;
  /** Origins that callers may name. */
  readonly origins: readonly string[];
}

export interface CheckoutOptions {
  readonly payment: Payment;
  readonly catalogue: CatalogueService;
  readonly customers: Customers;
  readonly inTurn: InTurn;
  readonly places: Places;
}

export interface OpenedCheckout {
  readonly url: string;
  readonly id: string;
  readonly expiresAt: Date;
}

export interface Checkouts {
  /** Problem 422 `unknown_price` and its like, `url_not_allowed`; 409 `subscription_exists`. */
  open(purchase: Purchase, wish: CheckoutWish & BackTo): Promise<OpenedCheckout>;
  /** @throws Problem 422 `url_not_allowed` */
  portal(purchase: Purchase, returnUrl: string | null): Promise<string>;
}

/** Null: where the settings say. */
export interface BackTo {
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
}

/** A session that a person is just paying cannot be expired: then it is looked at again. */
const maxLooks = 3;

export function createCheckouts({ payment, catalogue, customers, inTurn, places }: CheckoutOptions): Checkouts {
  function placeOf(url: string | null, fallback: string): string {
    if (url === null) return fallback;
    if (isAllowedUrl(url, places.origins)) return url;
    throw new Problem("url_not_allowed", "Pages of this origin may not be returned to");
  }

  async function requireNoSubscription(customer: string): Promise<void> {
    const all = await payment.list("list subscriptions", (client, page, options) =>
      client.subscriptions.list({ ...page, customer, status: "all" }, options),
    );
    if (!all.some(({ status }) => isInTheWay(status))) return;
    throw new Problem("subscription_exists", "There is a subscription already; change it instead");
  }

  return {
    open: ({ subject, buyer, work, began }, { successUrl, cancelUrl, ...wish }) =>
      askingProvider(async () => {
        const success_url = placeOf(successUrl, places.success);
        const cancel_url = placeOf(cancelUrl, places.cancel);
        const { catalogue: sold } = await catalogue.sold();
        const line_items = requireSold(checkoutLines(sold, wish)).map((line) => ({ ...line }));
        return inTurn(subject, () =>
          customers.use(subject, buyer, async (customer) => {
            // Open ones first: behind that no further subscription can come about but by this one.
            const expired: string[] = [];
            for (let looks = 0; looks < maxLooks; looks += 1) {
              const open = await expireOpenSessions(payment, customer);
              if (open.length === 0) break;
              expired.push(...open);
            }
            await requireNoSubscription(customer);
            await began();
            const metadata = { tenant_id: subject, user_sub: buyer.sub };
            const asked = {
              mode: "subscription" as const,
              customer,
              line_items,
              allow_promotion_codes: true,
              client_reference_id: subject,
              metadata,
              subscription_data: { metadata },
              success_url,
              cancel_url,
            };
            // A repetition has just expired what the first one made: it makes another one.
            const key = stepKey(work, "checkout", [asked, expired]);
            const session = await payment.write("create checkout", key, (client, options) =>
              client.checkout.sessions.create(asked, options),
            );
            if (session.url === null) throw new PaymentFailure("failed", "create checkout");
            return { url: session.url, id: session.id, expiresAt: new Date(session.expires_at * 1000) };
          }),
        );
      }),

    portal: ({ subject, buyer, work, began }, returnUrl) =>
      askingProvider(async () => {
        const return_url = placeOf(returnUrl, places.return);
        return inTurn(subject, () =>
          customers.use(subject, buyer, async (customer) => {
            await began();
            const asked = { customer, return_url };
            const { url } = await payment.write(
              "create portal session",
              stepKey(work, "portal", asked),
              (client, options) => client.billingPortal.sessions.create(asked, options),
            );
            return url;
          }),
        );
      }),
  };
}
