/**
 * How far the partitions of a commit have come, and the fence: they are still this node's, under the same epoch, and the
 * database is the one that they were taken from.
 */
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Part } from "./part.ts";

export interface PartitionProgress {
  readonly partition: number;
  readonly epoch: number;
  readonly mailboxOffset: string;
  /** Of the database, as it was when the partition was taken. */
  readonly timeline: string;
  readonly outboxSequence: number;
  /** Outbox rows up to this one are carried out and can go; 0 for none. */
  readonly published: number;
}

/** @param incarnation as `runtime_incarnation` of the schema writes it */
export const timelineOf = (incarnation: string): string => incarnation.slice(incarnation.lastIndexOf(".") + 1);

const move = `update runtime_partitions p
  set mailbox_offset = u.mailbox_offset, outbox_seq = u.outbox_seq
  from (select * from unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
    as u (partition, epoch, mailbox_offset, outbox_seq, timeline) limit cardinality($1::int[])) u
  where p.partition = u.partition and p.epoch = u.epoch and p.owner = $6
    and u.timeline = (select runtime_timeline())
  returning 1`;

/** Answers a row for each partition that is still this node's. */
export function progress(all: readonly PartitionProgress[], node: string): Part {
  // In the order in which they are taken: a commit and a take of the same ones must not wait for each other in a circle.
  const partitions = [...all].sort((left, right) => left.partition - right.partition);
  return {
    text: move,
    parameters: [
      numbers(partitions.map((row) => row.partition)),
      numbers(partitions.map((row) => row.epoch)),
      texts(partitions.map((row) => row.mailboxOffset)),
      numbers(partitions.map((row) => row.outboxSequence)),
      texts(partitions.map((row) => row.timeline)),
      node,
    ],
  };
}

/**
 * Judged last; undoes everything when a partition has another owner.
 * @param moved the name that the progress has in the statement
 */
export const fence = (moved: string, partitions: readonly PartitionProgress[]): Part => ({
  text: `select runtime_require_ownership((select count(*) from ${moved}) = $1::int)`,
  parameters: [partitions.length],
});
