/** What a node does with partitions that it just took, before it works on their messages. */
import { loadOutbox } from "../../effects/outbox.ts";
import type { OwnedPartition } from "../../ownership/lease.ts";
import type { ParkedMessages } from "../../versions/parked.ts";
import { committedOf } from "../committed.ts";
import type { LaneOptions } from "../options.ts";
import { type AheadMark, Arrivals } from "./arrivals.ts";
import type { Held } from "./held.ts";
import type { Publishing } from "./publishing.ts";
import { loadAhead, loadReceived } from "./received.ts";
import type { Received } from "./sources.ts";

/**
 * Carries out what former owners left undone, as far as Redis is there: the rest follows once it is back, and the
 * partitions are worked on meanwhile. @returns the partitions as they are committed
 */
export async function takeOver(
  options: Pick<LaneOptions, "sql" | "partitions" | "keepIdsAbove">,
  publishing: Pick<Publishing, "takeOver" | "forget" | "mark">,
  parked: Pick<ParkedMessages, "begin" | "setAside">,
  owned: readonly OwnedPartition[],
): Promise<readonly Held[]> {
  const { sql, keepIdsAbove } = options;
  const partitions = owned.map((one) => one.partition);
  publishing.forget(new Set(partitions));
  const raised = await parked.begin(owned);
  const [received, ahead] = await Promise.all([loadReceived(sql, partitions), loadAhead(sql, partitions)]);
  const sent = new Map(partitions.map((partition) => [partition, new Map<number, number>()]));
  for await (const page of loadOutbox(sql, options.partitions, partitions)) {
    const left = await parked.setAside(page);
    await publishing.takeOver(left, owned[0]?.incarnation ?? "");
    for (const { partition, target, seq } of left) if (target !== null) sent.get(partition)?.set(target, seq);
  }
  await Promise.all(owned.map((one) => keepIdsAbove(one.partition, one.mailboxOffset)));
  return owned.map((taken) => {
    const one = { ...taken, outboxSequence: taken.outboxSequence + (raised.get(taken.partition) ?? 0) };
    const held = heldOf(one, received.get(one.partition), ahead.get(one.partition), sent.get(one.partition));
    publishing.mark(held);
    return held;
  });
}

function heldOf(
  one: OwnedPartition,
  received: Received = new Map(),
  ahead: readonly AheadMark[] = [],
  sent: Map<number, number> = new Map(),
): Held {
  return {
    partition: one.partition,
    ...committedOf(one),
    received,
    arrivals: new Arrivals(ahead),
    sent,
    takenInbox: new Set(),
    attempted: one.outboxSequence,
    published: 0,
    cleared: 0,
  };
}
