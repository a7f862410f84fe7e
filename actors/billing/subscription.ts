/** What the provider says of a subscription, and what that means for the one who has it. Pure. */
import type { Tier } from "../identity/identity.ts";
import {
  type Interval,
  includedSeatsOf,
  intervalOf,
  type Meaning,
  type Metadata,
  meaningOf,
  type PaidTier,
  type Price,
  type Product,
  rankOf,
} from "./catalogue.ts";
import { count, fields, idOf, list, metadata, name, readPrice, readProduct } from "./read.ts";

/** Of a subscription or of a coming phase of it. */
export interface Item {
  readonly id: string | null;
  /** Null: its price is named only, by `priceId`. */
  readonly price: Price | null;
  readonly priceId: string;
  readonly quantity: number;
  /** Unix seconds. */
  readonly periodEnd: number | null;
}

/** A subscription as it stands in an event, or as it was read. Times are Unix seconds. */
export interface Seen {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  readonly status: string;
  readonly items: readonly Item[];
  readonly cancelAtPeriodEnd: boolean;
  readonly cancelAt: number | null;
  readonly periodEnd: number | null;
  /** Null: it has no schedule. */
  readonly scheduleId: string | null;
  /** What its schedule has it become next; undefined: the schedule is named only. */
  readonly next: Phase | null | undefined;
  /** Null: not said. */
  readonly latestInvoice: string | null;
  readonly metadata: Metadata;
  /** Products that came with it. */
  readonly products: readonly Product[];
}

export interface Phase {
  readonly at: number;
  readonly items: readonly Item[];
}

const maxItems = 100;

/** Null: this is no subscription. */
export function readSubscription(value: unknown): Seen | null {
  const given = fields(value);
  const [id, customer, created] = [name(given.id), idOf(given.customer), count(given.created)];
  const status = name(given.status);
  if (id === null || customer === null || created === null || status === null) return null;
  const rows = list(given.items).slice(0, maxItems);
  const items = rows.flatMap((row) => readItem(row) ?? []);
  const scheduleId = idOf(given.schedule);
  return {
    id,
    customer,
    created,
    status,
    items,
    cancelAtPeriodEnd: given.cancel_at_period_end === true,
    cancelAt: count(given.cancel_at),
    // Where former versions of the provider's API have it.
    periodEnd: count(given.current_period_end),
    scheduleId,
    next: scheduleId === null ? null : readNextPhase(given.schedule),
    latestInvoice: idOf(given.latest_invoice),
    metadata: metadata(given.metadata),
    products: rows.flatMap((row) => readProduct(fields(fields(row).price).product) ?? []),
  };
}

function readItem(value: unknown): Item | null {
  const { id, price, plan, quantity, current_period_end } = fields(value);
  const priceId = idOf(price) ?? idOf(plan);
  if (priceId === null) return null;
  return {
    id: name(id),
    price: readPrice(price),
    priceId,
    quantity: Math.min(1_000_000, count(quantity) ?? 1),
    periodEnd: count(current_period_end),
  };
}

/** @returns undefined where the schedule is named only; null where nothing follows what is */
function readNextPhase(schedule: unknown): Phase | null | undefined {
  const { current_phase, phases, status } = fields(schedule);
  if (!Array.isArray(phases)) return undefined;
  if (status === "released" || status === "canceled" || status === "completed") return null;
  const now = count(fields(current_phase).start_date);
  const later = list(phases)
    .map((phase) => ({ at: count(fields(phase).start_date), items: list(fields(phase).items).slice(0, maxItems) }))
    .filter((phase): phase is typeof phase & { at: number } => phase.at !== null && (now === null || phase.at > now))
    .sort((a, b) => a.at - b.at);
  const [next] = now === null ? later.slice(1) : later;
  return next === undefined ? null : { at: next.at, items: next.items.flatMap((row) => readItem(row) ?? []) };
}

/** What a subscription gives, and when that changes. Times are Unix seconds. */
export interface Facts {
  readonly id: string;
  readonly customer: string;
  readonly created: number;
  /** The provider's word. */
  readonly status: string;
  /** Of its base item's price, in every status; null: that is none of ours. */
  readonly tier: PaidTier | null;
  readonly interval: Interval | null;
  readonly baseItem: string | null;
  readonly basePrice: string | null;
  readonly seatItem: string | null;
  readonly seatPrice: string | null;
  readonly includedSeats: number;
  readonly extraSeats: number;
  readonly periodEnd: number | null;
  readonly cancelAtPeriodEnd: boolean;
  readonly schedule: string | null;
  /** What it is to become. */
  readonly pending: { readonly tier: Tier; readonly at: number } | null;
}

/** What is known at the provider beside a subscription. */
export interface Known {
  readonly products: ReadonlyMap<string, Product>;
  /** Of coming phases that name their prices only. */
  readonly prices: ReadonlyMap<string, Price>;
}

/** Prices, and products of prices at hand, that are to be looked up before the facts can be told. */
export function missingOf(seen: Seen, known: Known): { readonly prices: string[]; readonly products: string[] } {
  const items = [...seen.items, ...(seen.next?.items ?? [])];
  const prices = items.map(({ price, priceId }) => price ?? known.prices.get(priceId) ?? priceId);
  const held = new Set(seen.products.map(({ id }) => id));
  const missing = (id: string): boolean => !held.has(id) && !known.products.has(id);
  return {
    prices: [...new Set(prices.filter((price) => typeof price === "string"))],
    products: [...new Set(prices.flatMap((price) => (typeof price === "string" ? [] : price.product)))].filter(missing),
  };
}

/** @param known what could be found of `missingOf`; of what is not there any more nothing is known */
export function factsOf(seen: Seen, known: Known, brand: string): Facts {
  const means = meaningsOf(seen, known, brand);
  const base = highestBase(seen.items, means);
  const tier = base?.meaning.tier ?? null;
  const seats = seen.items.filter((item) => means(item)?.kind === "seat");
  const [seat] = seats;
  const periodEnd = base?.item.periodEnd ?? seen.items[0]?.periodEnd ?? seen.periodEnd;
  return {
    id: seen.id,
    customer: seen.customer,
    created: seen.created,
    status: seen.status,
    tier,
    interval: base === null ? null : intervalOf(base.price),
    baseItem: base?.item.id ?? null,
    basePrice: base?.item.priceId ?? null,
    seatItem: seat?.id ?? null,
    seatPrice: seat?.priceId ?? null,
    includedSeats: tier === null ? 0 : includedSeatsOf(tier, base?.product ?? null),
    extraSeats: seats.reduce((sum, { quantity }) => sum + quantity, 0),
    periodEnd,
    cancelAtPeriodEnd: seen.cancelAtPeriodEnd || (seen.cancelAt !== null && seen.cancelAt === periodEnd),
    schedule: seen.scheduleId,
    pending: pendingOf(seen, periodEnd, means),
  };
}

type Means = (item: Item) => Meaning | null;

interface Base {
  readonly item: Item;
  readonly meaning: Meaning;
  readonly price: Price;
  readonly product: Product | null;
}

const placed = (item: Item, known: Known): Price | null => item.price ?? known.prices.get(item.priceId) ?? null;

function meaningsOf(
  seen: Seen,
  known: Known,
  brand: string,
): (item: Item) => (Meaning & Omit<Base, "item" | "meaning">) | null {
  const held = new Map(seen.products.map((product) => [product.id, product]));
  return (item) => {
    const price = placed(item, known);
    if (price === null) return null;
    const product = held.get(price.product) ?? known.products.get(price.product) ?? null;
    const meaning = meaningOf(price, product, brand);
    return meaning === null ? null : { ...meaning, price, product };
  };
}

function highestBase(items: readonly Item[], means: ReturnType<typeof meaningsOf>): Base | null {
  let highest: Base | null = null;
  for (const item of items) {
    const found = means(item);
    if (found === null || found.kind !== "base") continue;
    const { price, product, ...meaning } = found;
    if (highest === null || rankOf(meaning.tier) > rankOf(highest.meaning.tier))
      highest = { item, meaning, price, product };
  }
  return highest;
}

function pendingOf(seen: Seen, periodEnd: number | null, means: Means): Facts["pending"] {
  const endsAt = seen.cancelAt ?? (seen.cancelAtPeriodEnd ? periodEnd : null);
  if (endsAt !== null) return { tier: "free", at: endsAt };
  const { next } = seen;
  if (next === null || next === undefined) return null;
  const [tier] = next.items
    .flatMap((item) => means(item) ?? [])
    .filter(({ kind }) => kind === "base")
    .map((meaning) => meaning.tier)
    .sort((a, b) => rankOf(b) - rankOf(a));
  return tier === undefined ? null : { tier, at: next.at };
}
