/**
 * Work that actors of this node's partitions wait for, as far as it is known: what this node committed since it took the
 * partition, and did not commit the end of. Only an actor's own commits end its work, so that what stands here need not be
 * looked up when its outcome comes. What is left out is looked up.
 */
import { partitionOf } from "../../mailbox/partition.ts";
import type { ActivityRow } from "../commit/activities.ts";

/** Ids at most; the longest known are left out first. */
const most = 16_384;

/** What a batch says of work. */
interface Ends {
  readonly activities: readonly Pick<ActivityRow, "id" | "kind" | "key">[];
  readonly settled: readonly string[];
  readonly abandoned: readonly string[];
}

export class Underway {
  /** The partition of its actor, by the id of the work. */
  private readonly known = new Map<string, number>();

  constructor(private readonly partitions: number) {}

  has(id: string): boolean {
    return this.known.has(id);
  }

  /** A batch is committed. */
  note({ activities, settled, abandoned }: Ends): void {
    for (const { id, kind, key } of activities) this.known.set(id, partitionOf(kind, key, this.partitions));
    for (const id of settled) this.known.delete(id);
    for (const id of abandoned) this.known.delete(id);
    for (const id of this.known.keys()) {
      if (this.known.size <= most) return;
      this.known.delete(id);
    }
  }

  /** Partitions are given up, or what is committed of them is in doubt. */
  forget(partitions: ReadonlySet<number>): void {
    for (const [id, partition] of this.known) if (partitions.has(partition)) this.known.delete(id);
  }
}
