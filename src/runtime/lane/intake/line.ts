/** The lines in which messages wait for the lane. */
import { jsonWeight } from "../../../lib/json-weight.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";

export interface Waiting {
  readonly delivery: Delivery;
  /** Characters, about. */
  readonly size: number;
}

/** A mailbox's messages in order, or those of a tenant that came from memory. */
export interface Line {
  readonly waiting: Waiting[];
  /** How many wait of each tenant. */
  readonly tenants: Map<string, number>;
  bytes: number;
  /** Set for the line of one actor. */
  readonly actor: string | null;
}

/** Takes what belongs to these partitions out of lists of messages; those left empty go. */
export function takeOut(lists: (readonly Delivery[])[], partitions: ReadonlySet<number>): readonly Delivery[] {
  const isGone = ({ partition }: Delivery) => partitions.has(partition);
  const all = lists.splice(0);
  lists.push(...all.map((list) => list.filter((one) => !isGone(one))).filter((list) => list.length > 0));
  return all.flatMap((list) => list.filter(isGone));
}

/** Effects keep the order of their sender, also where they did not come by the mailbox. */
export const isOrdered = ({ id, envelope }: Delivery): boolean => id !== null || envelope?.effect !== undefined;
export const actorOf = ({ envelope }: Delivery): string =>
  envelope === null ? "" : `${envelope.kind}/${envelope.key}`;
export const tenantOf = ({ envelope }: Delivery): string => envelope?.tenant ?? "";
export const waitingOf = (delivery: Delivery): Waiting => ({
  delivery,
  size: delivery.raw.length || jsonWeight(delivery.envelope?.body ?? null),
});
