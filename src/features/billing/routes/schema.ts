/** Shapes of billing on the wire. */
import { Type } from "@sinclair/typebox";
import { paidTiers } from "../../../../actors/billing/catalogue.ts";
import { Nullable } from "../../../../actors/kernel/schema.ts";
import { Subscription } from "../schema.ts";

const words = <const W extends string>(...all: readonly W[]) => Type.Union(all.map((word) => Type.Literal(word)));
const PaidTier = words(...paidTiers);
const Tier = words("free", ...paidTiers);
const Time = Type.String({ format: "date-time" });
const Id = Type.String({ minLength: 1, maxLength: 255 });
const SeatPrice = Type.String({ ...Id, description: "The add-on price of the same tier and interval when absent" });
const Place = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: "Of an origin that `PAYMENT_URL_ORIGINS` names; the service's setting when absent",
});
const Action = words("upgrade_immediate", "downgrade_at_period_end", "cancel_at_period_end", "no_change");

const examplePrice = "price_1QbusinessMonth";
const Currency = Type.String({ description: "ISO 4217 in small letters", examples: ["usd"] });
const SoldPrice = Type.Object({
  price_id: Type.String({ examples: [examplePrice] }),
  amount: Type.Integer({ description: "In the currency's smallest unit", examples: [10_000] }),
  currency: Currency,
});

const SoldTier = Type.Object({
  tier: PaidTier,
  product_id: Type.String({ examples: ["prod_Qbusiness"] }),
  name: Type.String(),
  description: Type.String(),
  included_seats: Type.Integer(),
  monthly: Nullable(SoldPrice),
  annual: Nullable(SoldPrice),
  seat_monthly: Nullable(SoldPrice),
  seat_annual: Nullable(SoldPrice),
});
export const Prices = Type.Object({ tiers: Type.Array(SoldTier) });

export const NewCheckout = Type.Object(
  {
    price_id: Id,
    seat_price_id: Type.Optional(SeatPrice),
    seats: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1000, default: 0, description: "Beside those that the tier includes" }),
    ),
    success_url: Type.Optional(Place),
    cancel_url: Type.Optional(Place),
    tier: Type.Optional(
      Type.String({ maxLength: 64, description: "What the price is taken for; refused where it is another" }),
    ),
  },
  { examples: [{ price_id: examplePrice, seats: 3 }] },
);
export const Checkout = Type.Object({
  url: Type.String(),
  session_id: Type.String({ examples: ["cs_1Qb"] }),
  expires_at: Time,
});

export const NewPortal = Type.Object({ return_url: Type.Optional(Place) });
export const Portal = Type.Object({ url: Type.String() });

export const InvoicesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Items per page; 100 when absent" })),
  cursor: Type.Optional(Type.String({ maxLength: 2048, description: "`next_cursor` of the page before" })),
});
export const InvoiceBody = Type.Object({
  id: Type.String(),
  amount: Type.Integer({ description: "The same as amount_due" }),
  amount_due: Type.Integer(),
  amount_paid: Type.Integer(),
  currency: Currency,
  status: Nullable(Type.String()),
  created: Time,
  pdf_url: Nullable(Type.String()),
  hosted_invoice_url: Nullable(Type.String()),
});

export const NewSeats = Type.Object(
  {
    extra_seats: Type.Integer({ minimum: 0, maximum: 1000, description: "Beside those that the tier includes" }),
    seat_price_id: Type.Optional(SeatPrice),
  },
  { examples: [{ extra_seats: 4 }] },
);

const wish = {
  target_tier: Tier,
  billing_interval: Type.Optional(words("month", "year")),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "Altogether, the owner counted" })),
};
const exampleWish = { target_tier: "enterprise", billing_interval: "month", seats: 12 };
export const TierWish = Type.Object(wish, { examples: [exampleWish] });
export const NewTier = Type.Object(
  {
    ...wish,
    proration_date: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 8_000_000_000,
        description: "Of the preview, Unix seconds; now when absent",
      }),
    ),
  },
  { examples: [{ ...exampleWish, proration_date: 1_933_000_000 }] },
);

export const TierPreview = Type.Object({
  target_tier: Tier,
  action: Action,
  proration_amount_cents: Type.Integer({ description: "What is paid at once" }),
  next_renewal_amount_cents: Type.Integer(),
  currency: Currency,
  effective_at: Nullable(Time),
  seats: Type.Integer(),
  proration_date: Type.Integer({ description: "Unix seconds; for the change itself" }),
});
export const SeatsChanged = Type.Object({
  success: Type.Literal(true),
  extra_seats: Type.Integer(),
  seat_count: Type.Integer({ description: "Altogether, the owner counted" }),
  subscription: Subscription,
});
export const TierChanged = Type.Object({
  action: Action,
  target_tier: Tier,
  seats: Type.Integer(),
  proration_invoice_id: Nullable(Type.String()),
  proration_amount_cents: Type.Integer(),
  effective_at: Nullable(Time),
  subscription: Subscription,
});

/** By the names that the API document gives them. */
export const named = {
  BillingPrice: SoldPrice,
  BillingTier: SoldTier,
  Invoice: InvoiceBody,
  NewCheckout,
  Checkout,
  NewSeats,
  SeatsChanged,
  TierWish,
  NewTier,
  TierPreview,
  TierChanged,
};
