/** What is known of a batch and its partitions after a commit that failed. */
import type { Delivery } from "../mailbox/mailbox.ts";
import { compareStreamIds } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import type { Batch, Held, LocalReply } from "./batch.ts";

/** A partition as it is committed. */
export function committedOf(one: OwnedPartition): Pick<Held, "epoch" | "mailboxOffset" | "sources" | "outboxSequence"> {
  return {
    epoch: one.epoch,
    mailboxOffset: one.mailboxOffset,
    sources: new Map(JSON.parse(one.sources) as [string, [number, number]][]),
    outboxSequence: one.outboxSequence,
  };
}

/**
 * A partition as its owner begins with it.
 * @param raised by how much the number of its last effect was raised since it was taken
 */
export function heldOf(one: OwnedPartition, raised = 0): Held {
  const outboxSequence = one.outboxSequence + raised;
  return { partition: one.partition, ...committedOf(one), outboxSequence, published: outboxSequence, cleared: 0 };
}

/** A batch is committed as a whole, so one of its partitions tells for all. */
export function wasCommitted(batch: Batch, owned: readonly OwnedPartition[]): boolean {
  const now = new Map(owned.map((one) => [one.partition, one]));
  for (const held of batch.advanced) {
    const row = now.get(held.partition);
    if (row !== undefined) return compareStreamIds(row.mailboxOffset, held.mailboxOffset) >= 0;
  }
  return false;
}

/** What the callers of messages that stand in no mailbox are told: those will not be read again. */
export function refusalsOf(deliveries: readonly Delivery[]): LocalReply[] {
  const refusals: LocalReply[] = [];
  for (const { id, envelope, parked } of deliveries) {
    if (id !== null || parked !== undefined || envelope === null || envelope.replyTo === null) continue;
    refusals.push({
      call: envelope.replyTo.call,
      answer: { unavailable: "The actor moved or its store is away" },
    });
  }
  return refusals;
}
