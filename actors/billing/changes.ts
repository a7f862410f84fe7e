/** What a wish for another tier or other seats comes to: which change, when, with which prices (docs/reference/billing.md). Pure. */
import type { Tier } from "../identity/identity.ts";
import { type Catalogue, type Interval, type Offer, type OfferedTier, type PaidTier, rankOf } from "./catalogue.ts";
import { seatCount } from "./standing.ts";
import type { Facts } from "./subscription.ts";

/** Why something cannot be bought as it was asked for. */
export type Unsold = "unknown_price" | "seat_price_mismatch" | "seats_not_available" | "tier_mismatch";
export interface Refused {
  readonly refusal: Unsold;
}

/** A price and how many of it. */
export interface Line {
  readonly price: string;
  readonly quantity: number;
}

export interface CheckoutWish {
  readonly priceId: string;
  readonly seatPriceId: string | null;
  /** Beside those that the tier includes. */
  readonly seats: number;
  /** What the caller takes the price for; null: not said. */
  readonly tier: string | null;
}

/** What a checkout sells. The tier is a property of the price; nothing that is asked sets it. */
export function checkoutLines(
  catalogue: Catalogue,
  { priceId, seatPriceId, seats, tier }: CheckoutWish,
): readonly Line[] | Refused {
  for (const offered of catalogue) {
    const interval = intervals.find((one) => offered.base[one]?.priceId === priceId);
    if (interval === undefined) continue;
    if (tier !== null && tier !== offered.tier) return { refusal: "tier_mismatch" };
    const seat = offered.seat[interval];
    if (seatPriceId !== null && seat?.priceId !== seatPriceId) return { refusal: "seat_price_mismatch" };
    const base = { price: priceId, quantity: 1 };
    if (seats === 0) return [base];
    return seat === null ? { refusal: "seats_not_available" } : [base, { price: seat.priceId, quantity: seats }];
  }
  return { refusal: "unknown_price" };
}

const intervals = ["month", "year"] as const;

/** Seats to be bought beside those that a tier includes. The first one, its owner's, is never bought. */
export const extraSeatsFor = (total: number, included: number): number =>
  total <= 1 ? 0 : Math.max(0, total - included);

export interface TierWish {
  readonly tier: Tier;
  /** Null: as it is. */
  readonly interval: Interval | null;
  /** Altogether; null: as many as now. */
  readonly seats: number | null;
}

/** What a subscription is to become. */
export interface Shape {
  readonly tier: PaidTier;
  readonly interval: Interval;
  /** Null: its base item stays as it is. */
  readonly basePrice: string | null;
  readonly extraSeats: number;
  /** Of further seats, as one that is asked of the provider; null: it has none, or keeps that of its item. */
  readonly seatPrice: string | null;
  readonly seats: number;
}

export type TierChange =
  | { readonly action: "no_change"; readonly shape: Shape }
  | { readonly action: "upgrade_immediate"; readonly shape: Shape }
  | { readonly action: "downgrade_at_period_end"; readonly shape: Shape }
  | { readonly action: "cancel_at_period_end" };
export type ChangeAction = TierChange["action"];

/**
 * The change that a wish comes to. The rank decides first, then the number of seats, then the interval: a higher rank, more
 * seats or the year is had now, the opposite at the end of the period.
 * @param now what the subscription is; its tier is known
 */
export function tierChange(
  now: Facts & { readonly tier: PaidTier },
  wish: TierWish,
  catalogue: Catalogue,
): TierChange | Refused {
  if (wish.tier === "free") return { action: "cancel_at_period_end" };
  const interval = wish.interval ?? now.interval ?? "month";
  const isSameSlot = wish.tier === now.tier && interval === now.interval;
  const offered = catalogue.find(({ tier }) => tier === wish.tier);
  const shape = isSameSlot ? sameSlot(now, wish.seats, offered) : otherSlot(now, wish, interval, offered);
  if ("refusal" in shape) return shape;
  const rank = rankOf(shape.tier) - rankOf(now.tier);
  const seats = shape.extraSeats - now.extraSeats;
  const period = intervals.indexOf(interval) - intervals.indexOf(now.interval ?? "month");
  const direction = rank !== 0 ? rank : seats !== 0 ? seats : period;
  if (direction === 0) return { action: isSameSlot ? "no_change" : "upgrade_immediate", shape };
  return { action: direction > 0 ? "upgrade_immediate" : "downgrade_at_period_end", shape };
}

/** Only its seats may differ: what it has stays at the prices that it has. */
function sameSlot(
  now: Facts & { readonly tier: PaidTier },
  seats: number | null,
  offered: OfferedTier | undefined,
): Shape | Refused {
  const interval = now.interval ?? "month";
  const extraSeats =
    seats === null || seats === seatCount(now) ? now.extraSeats : extraSeatsFor(seats, now.includedSeats);
  const seatPrice = now.seatPrice ?? offered?.seat[interval]?.priceId ?? null;
  if (extraSeats > 0 && seatPrice === null) return { refusal: "seats_not_available" };
  return shapeOf(now.tier, interval, null, extraSeats, now.seatPrice === null ? seatPrice : null, now.includedSeats);
}

function otherSlot(now: Facts, wish: TierWish, interval: Interval, offered: OfferedTier | undefined): Shape | Refused {
  const base = offered?.base[interval] ?? null;
  if (offered === undefined || base === null) return { refusal: "unknown_price" };
  // A subscription of the same tier keeps its further seats as they are.
  const included = offered.tier === now.tier ? now.includedSeats : offered.includedSeats;
  const isKept = wish.seats === null && offered.tier === now.tier;
  const seat: Offer | null = offered.seat[interval];
  const wanted = isKept ? now.extraSeats : extraSeatsFor(wish.seats ?? seatCount(now), included);
  // Where none are sold and none are asked for, those that it has end with the tier.
  const extraSeats = wish.seats === null && seat === null ? 0 : wanted;
  if (extraSeats > 0 && seat === null) return { refusal: "seats_not_available" };
  return shapeOf(offered.tier, interval, base.priceId, extraSeats, seat?.priceId ?? null, included);
}

const shapeOf = (
  tier: PaidTier,
  interval: Interval,
  basePrice: string | null,
  extraSeats: number,
  seatPrice: string | null,
  included: number,
): Shape => ({ tier, interval, basePrice, extraSeats, seatPrice, seats: Math.max(1, included + extraSeats) });

/** The same for a wish for so many further seats of the subscription as it is. */
export function seatChange(
  now: Facts & { readonly tier: PaidTier },
  extraSeats: number,
  seatPriceId: string | null,
  catalogue: Catalogue,
): Shape | Refused {
  const interval = now.interval ?? "month";
  const offered = catalogue.find(({ tier }) => tier === now.tier)?.seat[interval]?.priceId ?? null;
  if (seatPriceId !== null && seatPriceId !== offered && seatPriceId !== now.seatPrice) {
    return { refusal: "seat_price_mismatch" };
  }
  const price = seatPriceId ?? now.seatPrice ?? offered;
  if (extraSeats > 0 && price === null) return { refusal: "seats_not_available" };
  const seatPrice = price === now.seatPrice ? null : price;
  return shapeOf(now.tier, interval, null, extraSeats, seatPrice, now.includedSeats);
}

/** One row of an update of items: what is left out stays. */
export interface ItemChange {
  readonly id?: string;
  readonly price?: string;
  readonly quantity?: number;
  readonly deleted?: boolean;
}

/** How a subscription's items become a shape. Empty: they are so already. */
export function itemChanges(now: Facts, { basePrice, extraSeats, seatPrice }: Shape): readonly ItemChange[] {
  const rows: ItemChange[] = [];
  if (basePrice !== null && basePrice !== now.basePrice) {
    rows.push({ ...(now.baseItem === null ? {} : { id: now.baseItem }), price: basePrice, quantity: 1 });
  }
  if (now.seatItem !== null) {
    if (extraSeats === 0) rows.push({ id: now.seatItem, deleted: true });
    else if (extraSeats !== now.extraSeats || (seatPrice !== null && seatPrice !== now.seatPrice)) {
      rows.push({ id: now.seatItem, quantity: extraSeats, ...(seatPrice === null ? {} : { price: seatPrice }) });
    }
  } else if (extraSeats > 0 && seatPrice !== null) rows.push({ price: seatPrice, quantity: extraSeats });
  return rows;
}

/** What a subscription of this shape consists of. @param others items that are none of ours, which stay */
export function linesOf(
  now: Facts,
  { basePrice, extraSeats, seatPrice }: Shape,
  others: readonly Line[],
): readonly Line[] {
  const base = basePrice ?? now.basePrice;
  const seat = seatPrice ?? now.seatPrice;
  return [
    ...(base === null ? [] : [{ price: base, quantity: 1 }]),
    ...(extraSeats === 0 || seat === null ? [] : [{ price: seat, quantity: extraSeats }]),
    ...others,
  ];
}

/** How old a preview may be, seconds. */
const previewSeconds = 600;

/** Whether a preview of that time says nothing of a change now. Both are Unix seconds. */
export const isStale = (previewedAt: number, now: number): boolean =>
  previewedAt > now || now - previewedAt > previewSeconds;

/** Statuses of subscriptions that stand in the way of another one. */
export const isInTheWay = (status: string): boolean => status !== "canceled" && status !== "incomplete_expired";

/** Statuses of subscriptions that can be changed. */
export const isChangeable = (status: string): boolean => ["active", "trialing", "past_due"].includes(status);

/** Places that a caller names to come back to: a plain web address of an allowed origin. */
export function isAllowedUrl(url: string, origins: readonly string[]): boolean {
  if (url.length > 2048 || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/.test(url) || !URL.canParse(url)) return false;
  const { origin, username, password } = new URL(url);
  return username === "" && password === "" && origins.includes(origin);
}
