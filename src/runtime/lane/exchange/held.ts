/** What an owner knows of its partitions. */
import type { Arrivals } from "./arrivals.ts";
import type { Received } from "./sources.ts";

/** A partition as its owner keeps it between commits. */
export interface Held {
  readonly partition: number;
  epoch: number;
  /** The database as it was when the partition was taken. */
  incarnation: string;
  /** All entries of the mailbox up to here are taken. */
  mailboxOffset: string;
  readonly received: Received;
  /** What waits, and what was taken before it. */
  readonly arrivals: Arrivals;
  outboxSequence: number;
  /** The number of the last effect for each other partition, where that one may not have taken it. */
  readonly sent: Map<number, number>;
  /** Rows of the inbox that were taken. */
  readonly takenInbox: Set<string>;
  /** An attempt was made at carrying out the outbox rows up to here. */
  attempted: number;
  /** Outbox rows up to here are carried out, but for messages. */
  published: number;
  /** Outbox rows up to here are deleted as well. */
  cleared: number;
}
