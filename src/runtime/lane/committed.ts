/** What is known of a batch and its partitions after a commit that failed. */
import type { Sql } from "../../store/postgres/pool.ts";
import { clearOutbox } from "../effects/outbox.ts";
import type { LocalReply } from "../mailbox/calls.ts";
import type { Delivery } from "../mailbox/mailbox.ts";
import { compareStreamIds } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import type { Batch } from "./batch/batch.ts";
import type { Commit } from "./commit/commit.ts";
import { isOwnFault, Unstorable } from "./containment/blame.ts";
import type { Held } from "./exchange/held.ts";
import { PartitionLost } from "./journal.ts";
import type { LaneOptions } from "./options.ts";

/** A partition's progress as it is committed. */
export function committedOf({
  epoch,
  incarnation,
  mailboxOffset,
  outboxSequence,
}: OwnedPartition): Pick<Held, "epoch" | "incarnation" | "mailboxOffset" | "outboxSequence"> {
  return { epoch, incarnation, mailboxOffset, outboxSequence };
}

/** @throws Unstorable for what a projection or a state does not allow: nothing was sent yet */
export function commitOf(
  batch: Batch,
  { projections, turns, factWriters }: Pick<LaneOptions, "projections" | "turns" | "factWriters">,
): Commit {
  try {
    return batch.toCommit(projections, turns.listedOf, factWriters);
  } catch (error) {
    throw new Unstorable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Whether an error of a commit leaves no doubt that nothing of it is stored. */
export const isUncommitted = (error: unknown): boolean => error instanceof PartitionLost || isOwnFault(error);

/** Deletes the effects that were carried out where no commit does so. */
export async function clearCarriedOut(sql: Sql, all: readonly Held[]): Promise<void> {
  const marks = all
    .filter((held) => held.published > held.cleared)
    .map((held) => ({ held, partition: held.partition, seq: held.published }));
  if (marks.length === 0) return;
  await clearOutbox(sql, marks);
  for (const { held, seq } of marks) held.cleared = Math.max(held.cleared, seq);
}

/** Notes what a commit deleted, and tells callers, followers and the node's work of it. */
export function tellOf(
  batch: Batch,
  options: Pick<LaneOptions, "reply" | "acknowledge" | "announce" | "perform" | "abandon">,
): void {
  for (const [held, published] of batch.clearing) held.cleared = published;
  for (const reply of batch.replies) options.reply(reply);
  if (batch.acknowledged.length > 0) options.acknowledge(batch.acknowledged);
  if (batch.news.size > 0) options.announce([...batch.news.values()]);
  if (batch.activities.length > 0) options.perform(batch.activities);
  if (batch.abandoned.length > 0) options.abandon(batch.abandoned);
}

/** What a committed batch took leaves the mailboxes. */
export function settleMailboxes(batch: Batch, { trim, remove }: Pick<LaneOptions, "trim" | "remove">): void {
  for (const { arrivals } of batch.touched) arrivals.settle();
  for (const [partition, ids] of batch.exchange.takenBehind()) remove(partition, ids);
  for (const held of batch.advanced) trim(held.partition, held.mailboxOffset);
}

/**
 * A batch is committed as a whole, so one of its partitions tells for all, by its position or by what it took of a source.
 * @param owned the partitions, taken anew after the commit
 */
export async function wasCommitted(sql: Sql, batch: Batch, owned: readonly OwnedPartition[]): Promise<boolean> {
  const now = new Map(owned.map((one) => [one.partition, one]));
  for (const held of batch.advanced) {
    const row = now.get(held.partition);
    if (row !== undefined) return compareStreamIds(row.mailboxOffset, held.mailboxOffset) >= 0;
  }
  const { ahead, received } = batch.exchange.rows();
  const taken = [...ahead, ...received].find(({ partition }) => now.has(partition));
  if (taken === undefined) return false;
  const { partition, source, seq } = taken;
  const [row] = await sql<{ isTaken: boolean }[]>`
    select exists (select 1 from runtime_received where partition = ${partition} and source = ${source} and seq >= ${seq})
      or exists (select 1 from runtime_received_ahead where partition = ${partition} and source = ${source} and seq = ${seq})
      as "isTaken"`;
  return row?.isTaken === true;
}

/**
 * What the callers of messages that stand in no mailbox are told: those will not be read again.
 * @param untaken whether it is certain that no commit took them
 */
export function refusalsOf(deliveries: readonly Delivery[], untaken: boolean): LocalReply[] {
  const refusals: LocalReply[] = [];
  const unavailable = "The actor moved or its store is away";
  for (const { id, envelope, parked } of deliveries) {
    const caller = envelope?.replyTo ?? envelope?.acknowledge;
    if (id !== null || parked !== undefined || caller === undefined) continue;
    refusals.push({ call: caller.call, answer: untaken ? { unavailable, untaken } : { unavailable } });
  }
  return refusals;
}
