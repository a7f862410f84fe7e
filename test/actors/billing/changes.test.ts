/** docs/reference/billing.md: which change a wish comes to. */
import { expect, test } from "bun:test";
import type { Catalogue, Interval, OfferedTier, PaidTier } from "../../../actors/billing/catalogue.ts";
import {
  checkoutLines,
  extraSeatsFor,
  isAllowedUrl,
  isChangeable,
  isInTheWay,
  isStale,
  itemChanges,
  linesOf,
  seatChange,
  type TierWish,
  tierChange,
} from "../../../actors/billing/changes.ts";
import type { Facts } from "../../../actors/billing/subscription.ts";

const offer = (priceId: string) => ({ priceId, amount: 1, currency: "usd" });
const offered = (tier: PaidTier, includedSeats: number, seats: readonly Interval[]): OfferedTier => ({
  tier,
  productId: tier,
  name: tier,
  description: "",
  includedSeats,
  base: { month: offer(`${tier}_m`), year: offer(`${tier}_y`) },
  seat: {
    month: seats.includes("month") ? offer(`${tier}_seat_m`) : null,
    year: seats.includes("year") ? offer(`${tier}_seat_y`) : null,
  },
});
const sold: Catalogue = [
  offered("pro", 0, []),
  offered("business", 5, ["month", "year"]),
  offered("enterprise", 10, ["month"]),
];

type Known = Facts & { readonly tier: PaidTier };
function having(tier: PaidTier, interval: Interval = "month", extraSeats = 0): Known {
  const suffix = interval === "month" ? "m" : "y";
  const included = { pro: 0, business: 5, enterprise: 10 }[tier];
  const hasSeats = extraSeats > 0;
  return {
    id: "sub",
    customer: "cus",
    created: 1,
    status: "active",
    tier,
    interval,
    baseItem: "si_base",
    basePrice: `${tier}_${suffix}`,
    seatItem: hasSeats ? "si_seat" : null,
    seatPrice: hasSeats ? `${tier}_seat_${suffix}` : null,
    includedSeats: included,
    extraSeats,
    periodEnd: 2,
    cancelAtPeriodEnd: false,
    schedule: null,
    pending: null,
  };
}
const wish = (tier: TierWish["tier"], rest: Partial<TierWish> = {}): TierWish => ({
  tier,
  interval: null,
  seats: null,
  ...rest,
});

/** The action, or why there is none; with further seats and seats altogether. */
function outcome(now: Known, asked: TierWish): string {
  const change = tierChange(now, asked, sold);
  if ("refusal" in change) return change.refusal;
  if (change.action === "cancel_at_period_end") return change.action;
  return `${change.action} ${change.shape.extraSeats}/${change.shape.seats}`;
}

test.each([
  // rank
  [having("pro"), wish("business"), "upgrade_immediate 0/5"],
  [having("business", "month", 3), wish("enterprise"), "upgrade_immediate 0/10"],
  [having("business", "month", 8), wish("enterprise"), "upgrade_immediate 3/13"],
  [having("enterprise"), wish("business"), "downgrade_at_period_end 5/10"],
  [having("enterprise"), wish("business", { seats: 5 }), "downgrade_at_period_end 0/5"],
  [having("business"), wish("pro"), "downgrade_at_period_end 0/1"],
  [having("business"), wish("pro", { seats: 1 }), "downgrade_at_period_end 0/1"],
  [having("business"), wish("pro", { seats: 2 }), "seats_not_available"],
  // a higher rank is had now, whatever else comes with it
  [having("pro", "year"), wish("business", { interval: "month" }), "upgrade_immediate 0/5"],
  [having("business", "month", 4), wish("enterprise", { seats: 1 }), "upgrade_immediate 0/10"],
  // seats within a rank
  [having("business"), wish("business", { seats: 6 }), "upgrade_immediate 1/6"],
  [having("business", "month", 3), wish("business", { seats: 6 }), "downgrade_at_period_end 1/6"],
  [having("business", "month", 3), wish("business", { seats: 1 }), "downgrade_at_period_end 0/5"],
  [having("business", "month", 3), wish("business", { seats: 2, interval: "year" }), "downgrade_at_period_end 0/5"],
  [having("business", "year", 3), wish("business", { seats: 9, interval: "month" }), "upgrade_immediate 4/9"],
  // interval
  [having("business", "month", 2), wish("business", { interval: "year" }), "upgrade_immediate 2/7"],
  [having("business", "year", 2), wish("business", { interval: "month" }), "downgrade_at_period_end 2/7"],
  // nothing
  [having("pro"), wish("pro"), "no_change 0/1"],
  [having("pro"), wish("pro", { seats: 1, interval: "month" }), "no_change 0/1"],
  [having("business", "month", 2), wish("business", { seats: 7 }), "no_change 2/7"],
  [having("business"), wish("business", { seats: 2 }), "no_change 0/5"],
  // the end
  [having("enterprise"), wish("free"), "cancel_at_period_end"],
  // what is not sold
  [having("pro"), wish("pro", { seats: 3 }), "seats_not_available"],
  [having("business", "year"), wish("enterprise", { seats: 12 }), "seats_not_available"],
])("a wish is a change: %#", (now, asked, expected) => {
  expect(outcome(now, asked)).toBe(expected);
});

test("a tier that is not sold at that interval is refused", () => {
  const monthly = sold.map((one) => ({ ...one, base: { ...one.base, year: null } }));
  const refused = { refusal: "unknown_price" } as const;
  expect(tierChange(having("pro"), wish("business", { interval: "year" }), monthly)).toEqual(refused);
  expect(tierChange(having("pro"), wish("business"), [])).toEqual(refused);
});

/** Rows of the update that a wish comes to. */
function rows(now: Known, asked: TierWish) {
  const change = tierChange(now, asked, sold);
  return "shape" in change ? itemChanges(now, change.shape) : [];
}

test.each([
  [having("pro"), wish("business"), [{ id: "si_base", price: "business_m", quantity: 1 }]],
  [
    having("pro"),
    wish("business", { seats: 7 }),
    [
      { id: "si_base", price: "business_m", quantity: 1 },
      { price: "business_seat_m", quantity: 2 },
    ],
  ],
  [
    having("business", "month", 8),
    wish("enterprise"),
    [
      { id: "si_base", price: "enterprise_m", quantity: 1 },
      { id: "si_seat", quantity: 3, price: "enterprise_seat_m" },
    ],
  ],
  [
    having("business", "month", 3),
    wish("enterprise"),
    [
      { id: "si_base", price: "enterprise_m", quantity: 1 },
      { id: "si_seat", deleted: true },
    ],
  ],
  [having("business", "month", 1), wish("business", { seats: 9 }), [{ id: "si_seat", quantity: 4 }]],
  [having("business"), wish("business"), []],
])("items become what is wished for: %#", (now, asked, expected) => {
  expect(rows(now, asked)).toEqual(expected);
});

test("a subscription of an older price keeps it while only its seats change", () => {
  const old = { ...having("business", "month", 2), basePrice: "old", seatPrice: "old_seat" };
  expect(rows(old, wish("business", { seats: 10 }))).toEqual([{ id: "si_seat", quantity: 5 }]);
  expect(outcome(old, wish("business"))).toBe("no_change 2/7");
});

test("what a subscription becomes later is written whole, with items of others", () => {
  const now = having("business", "month", 2);
  const change = tierChange(now, wish("business", { seats: 6 }), sold);
  if (!("shape" in change)) throw new Error("no shape");
  expect(linesOf(now, change.shape, [{ price: "support", quantity: 4 }])).toEqual([
    { price: "business_m", quantity: 1 },
    { price: "business_seat_m", quantity: 1 },
    { price: "support", quantity: 4 },
  ]);
});

test.each([
  [having("business"), 0, null, []],
  [having("business", "month", 2), 2, null, []],
  [having("business"), 3, null, [{ price: "business_seat_m", quantity: 3 }]],
  [having("business"), 3, "business_seat_m", [{ price: "business_seat_m", quantity: 3 }]],
  [having("business"), 3, "business_seat_y", "seat_price_mismatch"],
  [having("business"), 3, "enterprise_seat_m", "seat_price_mismatch"],
  [having("business", "month", 3), 0, null, [{ id: "si_seat", deleted: true }]],
  [having("business", "month", 3), 1, null, [{ id: "si_seat", quantity: 1 }]],
  [having("pro"), 1, null, "seats_not_available"],
  [having("pro"), 0, null, []],
])("further seats: %#", (now, extra, price, expected) => {
  const shape = seatChange(now, extra, price, sold);
  expect<unknown>("refusal" in shape ? shape.refusal : itemChanges(now, shape)).toEqual(expected);
});

test.each([
  [{ priceId: "pro_m" }, [{ price: "pro_m", quantity: 1 }]],
  [
    { priceId: "business_y", seats: 2 },
    [
      { price: "business_y", quantity: 1 },
      { price: "business_seat_y", quantity: 2 },
    ],
  ],
  [{ priceId: "business_m", seatPriceId: "business_seat_m" }, [{ price: "business_m", quantity: 1 }]],
  [{ priceId: "business_m", seatPriceId: "business_seat_y" }, "seat_price_mismatch"],
  [{ priceId: "business_m", seatPriceId: "enterprise_seat_m", seats: 1 }, "seat_price_mismatch"],
  [{ priceId: "pro_m", seats: 1 }, "seats_not_available"],
  [{ priceId: "business_m", tier: "enterprise" }, "tier_mismatch"],
  [{ priceId: "business_m", tier: "business" }, [{ price: "business_m", quantity: 1 }]],
  [{ priceId: "business_seat_m" }, "unknown_price"],
  [{ priceId: "none" }, "unknown_price"],
])("a checkout sells %#", (asked, expected) => {
  const lines = checkoutLines(sold, { seatPriceId: null, seats: 0, tier: null, ...asked });
  expect<unknown>("refusal" in lines ? lines.refusal : [...lines]).toEqual(expected);
});

test("seats beside the included ones; the owner's is never bought", () => {
  expect([extraSeatsFor(1, 0), extraSeatsFor(2, 0), extraSeatsFor(5, 5), extraSeatsFor(8, 5)]).toEqual([0, 2, 0, 3]);
});

test("a preview holds for ten minutes, and not before its time", () => {
  const now = 10_000;
  expect([now, now - 600, now - 601, now + 1].map((at) => isStale(at, now))).toEqual([false, false, true, true]);
});

test("which statuses are in the way of another subscription, and which can be changed", () => {
  const all = ["active", "trialing", "past_due", "unpaid", "paused", "incomplete", "incomplete_expired", "canceled"];
  expect(all.filter(isInTheWay)).toEqual(["active", "trialing", "past_due", "unpaid", "paused", "incomplete"]);
  expect(all.filter(isChangeable)).toEqual(["active", "trialing", "past_due"]);
});

test.each([
  ["https://app.test/back?x={CHECKOUT_SESSION_ID}", true],
  ["https://app.test", true],
  ["https://app.test:444/", false],
  ["http://app.test/", false],
  ["https://app.test.evil.test/", false],
  ["https://evil.test\\@app.test/", false],
  ["https://me:pw@app.test/", false],
  ["https://app.test@evil.test/", false],
  ["https://ap\tp.test/", false],
  [" https://app.test/", false],
  ["javascript:alert(1)//https://app.test/", false],
  ["//app.test/", false],
  [`https://app.test/${"x".repeat(2048)}`, false],
])("may be returned to: %p %p", (url, isAllowed) => {
  expect(isAllowedUrl(url, ["https://app.test"])).toBe(isAllowed);
});
