/** Reads what the payment provider wrote: nothing of it is taken for granted, what is missing is told apart. Pure. */
import { isObject, type Json } from "../kernel/json.ts";
import type { Metadata, Price, Product } from "./catalogue.ts";

type Fields = { readonly [member: string]: Json | undefined };

/** The object's members; those of anything else are missing. */
export const fields = (value: unknown): Fields => (isObject(value) ? value : {});

const maxId = 255;

/** A name, such as an id; null: none, or one that is none of the provider's. */
export function name(value: unknown): string | null {
  return typeof value === "string" && value.length > 0 && value.length <= maxId && /^[\x21-\x7e]+$/.test(value)
    ? value
    : null;
}

/** The id of what is there as an object, or by its id alone. */
export const idOf = (value: unknown): string | null => name(isObject(value) ? value.id : value);

/** A whole number from 0 to what PostgreSQL and dates can hold; null: none. */
export function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= 8_000_000_000
    ? value
    : null;
}

/** Members that are short texts. */
export function metadata(value: unknown): Metadata {
  const entries = Object.entries(fields(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].length <= 500,
  );
  return Object.fromEntries(entries);
}

/** The members of a list of the provider's, or of a plain one. */
export function list(value: unknown): readonly Json[] {
  const found: unknown = isObject(value) ? value.data : value;
  return Array.isArray(found) ? (found as readonly Json[]) : [];
}

/** Null: this is no price. */
export function readPrice(value: unknown): Price | null {
  const { id, product, currency, unit_amount, recurring, created, metadata: said } = fields(value);
  const [priceId, productId] = [name(id), idOf(product)];
  if (priceId === null || productId === null) return null;
  const { interval, interval_count, usage_type } = fields(recurring);
  return {
    id: priceId,
    product: productId,
    currency: typeof currency === "string" ? currency : "",
    amount: count(unit_amount),
    recurring:
      typeof interval === "string"
        ? {
            interval,
            count: count(interval_count) ?? 1,
            usage: typeof usage_type === "string" ? usage_type : "licensed",
          }
        : null,
    created: count(created) ?? 0,
    metadata: metadata(said),
  };
}

/** Null: this is no product, or one that was deleted. */
export function readProduct(value: unknown): Product | null {
  const { id, name: called, description, metadata: said, deleted } = fields(value);
  const productId = name(id);
  if (productId === null || deleted === true || typeof called !== "string") return null;
  return {
    id: productId,
    name: called,
    description: typeof description === "string" ? description : null,
    metadata: metadata(said),
  };
}
