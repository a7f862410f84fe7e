/**
 * Large messages, and those of actors with large states, have batches of their own, of few: storing a state of a mebibyte
 * takes as long as hundreds of small ones, and all messages of a batch are answered when the last of them is stored.
 */
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Company } from "./inbox.ts";

/** Characters of a message, or of a stored state. */
const largeSize = 128 * 1024;
/** How they are taken. */
export const large: Company = { kind: "large", most: 2 };

/** @param size characters of a message, or of a stored state */
export const isLarge = (size: number): boolean => size > largeSize;

/** The actors in memory, by `kind/key`, each with the characters of its stored state. */
interface Sizes {
  /** Whether any state may be large. */
  readonly hasLarge: boolean;
  get(name: string): { readonly size: number } | undefined;
}

/** @param suspected how a message is to be taken for other reasons, which go first */
export function companies(
  cache: Sizes,
  suspected: (delivery: Delivery) => Company | null,
): (delivery: Delivery, size: number) => Company | null {
  return (delivery, size) => {
    const company = suspected(delivery);
    if (company !== null || delivery.envelope === null) return company;
    if (isLarge(size)) return large;
    if (!cache.hasLarge) return null;
    const { kind, key } = delivery.envelope;
    return isLarge(cache.get(`${kind}/${key}`)?.size ?? 0) ? large : null;
  };
}
