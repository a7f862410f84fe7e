/** What a change of items costs for the rest of the period: credit for what is given up, the price of what comes. */
import type { Item } from "../../shapes.ts";
import { isSameInterval } from "./period.ts";

/** A line of an invoice to come. */
export interface Charge {
  readonly item: Item;
  readonly amount: number;
  readonly quantity: number;
  readonly from: number;
  readonly to: number;
  readonly isProration: boolean;
}

const priceOfItem = (item: Item): number => (item.price.unit_amount ?? 0) * item.quantity;

/** The whole period of each item. */
export const fullCharges = (items: readonly Item[]): Charge[] =>
  items.map((item) => ({
    item,
    amount: priceOfItem(item),
    quantity: item.quantity,
    from: item.current_period_start,
    to: item.current_period_end,
    isProration: false,
  }));

/** Whether the change begins a new period at once. */
export const changesInterval = (former: readonly Item[], next: readonly Item[]): boolean =>
  former[0] !== undefined && next[0] !== undefined && !isSameInterval(former[0].price, next[0].price);

/**
 * @param next where the interval changes, with their new periods
 * @param at   the proration's date, Unix seconds
 */
export function prorations(former: readonly Item[], next: readonly Item[], at: number): Charge[] {
  const isNewPeriod = changesInterval(former, next);
  const charges: Charge[] = [];
  for (const item of former) {
    const kept = next.find(({ id }) => id === item.id);
    if (!isNewPeriod && kept?.price.id === item.price.id && kept.quantity === item.quantity) continue;
    const rest = (item.current_period_end - at) / (item.current_period_end - item.current_period_start);
    const amount = -Math.round(priceOfItem(item) * rest);
    charges.push({ item, amount, quantity: item.quantity, from: at, to: item.current_period_end, isProration: true });
  }
  if (isNewPeriod) return [...charges, ...fullCharges(next)];
  for (const item of next) {
    const was = former.find(({ id }) => id === item.id);
    if (was?.price.id === item.price.id && was.quantity === item.quantity) continue;
    const rest = (item.current_period_end - at) / (item.current_period_end - item.current_period_start);
    const amount = Math.round(priceOfItem(item) * rest);
    charges.push({ item, amount, quantity: item.quantity, from: at, to: item.current_period_end, isProration: true });
  }
  return charges;
}
