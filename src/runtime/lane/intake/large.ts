/**
 * Large messages, and those of actors with large states, have batches of their own, of one actor: storing a state of a
 * mebibyte takes as long as hundreds of small ones, all messages of a batch are answered when the last of them is stored,
 * and those behind them in their mailboxes wait for it as well.
 */
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { Company } from "./inbox.ts";

/** Characters of a message, or of a stored state. */
const largeSize = 128 * 1024;
/**
 * Of one actor that share a batch: its state is stored once for all. Each may write as much again to logs and to others, so
 * they are not as many as in other batches; large messages, whose turns take long themselves, are fewer still.
 */
const [mostLarge, mostSmall] = [2, 64];
const largeKind = "large ";

/** @param size characters of a message, or of a stored state */
export const isLarge = (size: number): boolean => size > largeSize;

export const isLargeCompany = (company: Company | null): boolean => company?.kind.startsWith(largeKind) === true;

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
    if (!isLarge(size) && !cache.hasLarge) return null;
    const { kind, key } = delivery.envelope;
    const name = `${kind}/${key}`;
    if (isLarge(size)) return { kind: largeKind + name, most: mostLarge };
    return isLarge(cache.get(name)?.size ?? 0) ? { kind: largeKind + name, most: mostSmall } : null;
  };
}
