/** What is sold: which prices of the payment provider are tiers and seats of ours (docs/reference/billing.md). Pure. */
import type { Tier } from "../identity/identity.ts";

export const paidTiers = ["pro", "business", "enterprise"] as const;
/** Tiers that can be bought, lowest first. */
export type PaidTier = (typeof paidTiers)[number];
export type Interval = "month" | "year";

export type Metadata = Readonly<Record<string, string>>;

/** A product of the provider, as far as it matters here. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
}

/** A price of the provider. */
export interface Price {
  readonly id: string;
  readonly product: string;
  readonly currency: string;
  /** In the currency's smallest unit; null: it is not one number. */
  readonly amount: number | null;
  /** Null: it is paid once. */
  readonly recurring: { readonly interval: string; readonly count: number; readonly usage: string } | null;
  /** Unix seconds. */
  readonly created: number;
  readonly metadata: Metadata;
}

/** What a price gives to one who pays it. */
export interface Meaning {
  readonly tier: PaidTier;
  /** `base`: the tier itself, `seat`: room for one more person in it. */
  readonly kind: "base" | "seat";
}

const paidTier = (word: string | undefined): PaidTier | null =>
  paidTiers.find((tier) => tier === word?.trim().toLowerCase()) ?? null;

/**
 * What a price means: by its own metadata, then its product's, then, where there is a brand, by the product's name.
 * A word that is none of ours is an answer too: the price is not ours, and nothing further is asked.
 * @param product null: it is not known any more
 * @param brand   what names that say a tier begin with; empty: names say nothing
 */
export function meaningOf(price: Pick<Price, "metadata">, product: Product | null, brand: string): Meaning | null {
  const tier = price.metadata.tier ?? product?.metadata.tier;
  const kind = price.metadata.kind ?? product?.metadata.kind;
  if (tier === undefined) return brand === "" || product === null ? null : meaningOfName(product.name, brand);
  const known = paidTier(tier);
  const word = (kind ?? "base").trim().toLowerCase();
  return known !== null && (word === "base" || word === "seat") ? { tier: known, kind: word } : null;
}

function meaningOfName(name: string, brand: string): Meaning | null {
  if (!name.startsWith(`${brand} `)) return null;
  const [, tier, seat] = /^(Pro|Business|Enterprise)( Extra Seat)?$/.exec(name.slice(brand.length + 1)) ?? [];
  const known = paidTier(tier);
  return known === null ? null : { tier: known, kind: seat === undefined ? "base" : "seat" };
}

const usualSeats: Readonly<Record<PaidTier, number>> = { pro: 0, business: 5, enterprise: 10 };
const maxSeats = 1_000_000;

/** People that a tier has room for without further seats, as its product says; 0 where it says nothing of people. */
export function includedSeatsOf(tier: PaidTier, product: Product | null): number {
  const written = product?.metadata.included_seats?.trim() ?? "";
  return /^\d{1,7}$/.test(written) ? Math.min(maxSeats, Number(written)) : usualSeats[tier];
}

/** Null: neither paid monthly nor yearly. */
export function intervalOf({ recurring }: Pick<Price, "recurring">): Interval | null {
  if (recurring === null || recurring.count !== 1) return null;
  return recurring.interval === "month" || recurring.interval === "year" ? recurring.interval : null;
}

export interface Offer {
  readonly priceId: string;
  readonly amount: number;
  readonly currency: string;
}

/** A tier that is sold. */
export interface OfferedTier {
  readonly tier: PaidTier;
  readonly productId: string;
  readonly name: string;
  readonly description: string;
  readonly includedSeats: number;
  readonly base: Readonly<Record<Interval, Offer | null>>;
  readonly seat: Readonly<Record<Interval, Offer | null>>;
}

/** Lowest tier first; tiers without a base price are left out. */
export type Catalogue = readonly OfferedTier[];

interface Slotted {
  readonly price: Price;
  readonly product: Product;
  readonly offer: Offer;
}

/**
 * What is sold, of what the provider has.
 * @param products active ones
 * @param prices   active ones; those of other products, and those that are not a fixed amount a month or a year, are not sold
 */
export function catalogueOf(products: readonly Product[], prices: readonly Price[], brand: string): Catalogue {
  const known = new Map(products.map((product) => [product.id, product]));
  const slots = new Map<string, Slotted>();
  for (const price of prices) {
    const product = known.get(price.product);
    const interval = intervalOf(price);
    if (product === undefined || interval === null || price.amount === null) continue;
    const meaning = price.recurring?.usage === "licensed" ? meaningOf(price, product, brand) : null;
    if (meaning === null) continue;
    const slot = `${meaning.tier} ${meaning.kind} ${interval}`;
    const offer = { priceId: price.id, amount: price.amount, currency: price.currency };
    if (isNewer(price, slots.get(slot)?.price)) slots.set(slot, { price, product, offer });
  }
  return paidTiers.flatMap((tier) => {
    const [monthly, annual] = [slots.get(`${tier} base month`), slots.get(`${tier} base year`)];
    const shown = isNewer(annual?.price, monthly?.price) ? annual : monthly;
    if (shown === undefined) return [];
    const { id, name, description } = shown.product;
    const offer = (kind: Meaning["kind"], interval: Interval) =>
      slots.get(`${tier} ${kind} ${interval}`)?.offer ?? null;
    return {
      tier,
      productId: id,
      name,
      description: description ?? "",
      includedSeats: includedSeatsOf(tier, shown.product),
      base: { month: offer("base", "month"), year: offer("base", "year") },
      seat: { month: offer("seat", "month"), year: offer("seat", "year") },
    };
  });
}

/** The newest of two prices of one slot is the one that is sold. */
function isNewer(price: Price | undefined, than: Price | undefined): boolean {
  if (price === undefined || than === undefined) return price !== undefined;
  return price.created === than.created ? price.id > than.id : price.created > than.created;
}

/** Lowest first; `free` is nothing bought. */
export const rankOf = (tier: Tier): number => (tier === "free" ? 0 : 1 + paidTiers.indexOf(tier));
