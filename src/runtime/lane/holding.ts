/** The partitions that the lane holds: how they come to it, and how they go with all that is in memory of them. */
import type { Delivery } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import type { Parking } from "./batch/parking.ts";
import type { ActorCache } from "./cache/actor-cache.ts";
import type { Underway } from "./cache/underway.ts";
import { refusalsOf } from "./committed.ts";
import type { Careful } from "./containment/careful.ts";
import type { Held } from "./exchange/held.ts";
import type { Publishing } from "./exchange/publishing.ts";
import type { Refill } from "./exchange/refill.ts";
import { takeOver } from "./exchange/take-over.ts";
import type { Inbox } from "./intake/inbox.ts";
import { takeOut } from "./intake/line.ts";
import type { LaneOptions } from "./options.ts";

/** What of the lane remembers something of partitions. */
export interface Rememberers {
  readonly held: Map<number, Held>;
  readonly inbox: Inbox;
  /** Parts of batches that are to be taken again. */
  readonly again: (readonly Delivery[])[];
  readonly cache: ActorCache;
  readonly parked: Parking;
  readonly careful: Careful;
  readonly publishing: Publishing;
  readonly waiting: Refill;
  readonly underway: Underway;
}

export class Holding {
  constructor(
    private readonly options: LaneOptions,
    private readonly of: Rememberers,
  ) {}

  /** Begins with partitions that were just taken: first what their former owner left undone, then their mailboxes. */
  async take(owned: readonly OwnedPartition[]): Promise<void> {
    if (owned.length === 0) return;
    const { options } = this;
    const { held, publishing, parked, waiting } = this.of;
    for (const one of await takeOver(options, publishing, parked, owned)) {
      held.set(one.partition, one);
      options.follow(one.partition, one.mailboxOffset);
    }
    const partitions = owned.map((one) => one.partition);
    waiting.want(partitions);
    options.timers.attach(partitions);
    options.refreshTails(partitions);
    if (owned.some(({ former }) => former !== null)) options.interrupted();
  }

  /** Forgets everything of these partitions. Callers whose messages stand in no mailbox are told so. */
  drop(partitions: readonly number[]): void {
    const { options } = this;
    const { held, inbox, again, parked, cache, underway } = this.of;
    const gone = new Set(partitions);
    options.timers.detach(partitions);
    for (const partition of partitions) {
      held.delete(partition);
      options.unfollow(partition);
    }
    this.refuse([...inbox.remove(gone), ...takeOut(again, gone)], true);
    parked.forget(partitions);
    cache.drop(gone);
    underway.forget(gone);
  }

  /** Says which of the partitions another node has now. */
  leave(all: readonly number[], owned: readonly OwnedPartition[]): void {
    const gone = all.filter((one) => !owned.some(({ partition }) => partition === one));
    if (gone.length === 0) return;
    this.of.careful.forget(gone);
    this.options.lost(gone);
  }

  /** Messages that stand in no mailbox will not be read again. @param untaken whether certainly no commit took them */
  refuse(deliveries: readonly Delivery[], untaken: boolean): void {
    this.of.waiting.settle(deliveries);
    for (const reply of refusalsOf(deliveries, untaken)) this.options.reply(reply);
  }
}
