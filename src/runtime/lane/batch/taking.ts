/** How one message comes into a batch: its turn, or what becomes of it without one. */
import type { Delivery } from "../../mailbox/mailbox.ts";
import type { ActorCache } from "../cache/actor-cache.ts";
import type { PoisonMessages } from "../containment/poison.ts";
import type { Held } from "../exchange/held.ts";
import type { LaneOptions } from "../options.ts";
import type { CachedActor } from "../turn.ts";
import type { Batch } from "./batch.ts";
import { type CoCommitMessage, noCoCommits } from "./co-commit-message.ts";
import type { Parking } from "./parking.ts";

export class Taking {
  constructor(
    private readonly options: Pick<LaneOptions, "turns" | "report">,
    private readonly cache: ActorCache,
    private readonly poison: PoisonMessages,
    private readonly parked: Parking,
  ) {}

  /**
   * Takes one message into the batch; its actor is in memory.
   * @param name of the actor, as `kind/key`
   * @param live the activities under way, and whether they are wanted
   * @returns the messages of its turn to be co-committed
   */
  take(
    batch: Batch,
    held: Held,
    delivery: Delivery,
    name: string,
    live: ReadonlyMap<string, boolean>,
  ): readonly CoCommitMessage[] {
    if (!batch.take(held, delivery)) return noCoCommits;
    const { envelope } = delivery;
    if (envelope === null) return this.deadLetter(batch, held, delivery, "unreadable mailbox entry", 1);
    if (envelope.activity !== null && !batch.awaits(envelope.activity, live)) return noCoCommits;
    const { timer, rearm } = delivery;
    const poison = this.poison.of(envelope);
    if (poison?.error) {
      if (timer !== undefined) batch.fired(held, timer);
      return this.deadLetter(batch, held, delivery, poison.error, poison.attempts);
    }
    const actor = this.cache.get(name) as CachedActor;
    if (timer !== undefined && !batch.fired(held, timer, actor)) return noCoCommits;
    if (rearm !== undefined) {
      batch.rearm(this.options.turns, held, actor, envelope, rearm);
      return noCoCommits;
    }
    if (this.parked.holdsBack(batch, held, delivery)) return noCoCommits;
    const result = batch.run(this.options.turns, actor, envelope);
    if (this.parked.keeps(batch, held, delivery, result)) return noCoCommits;
    if (result.result === "done") return batch.done(held, actor, envelope, result);
    if (result.result === "failed") return this.deadLetter(batch, held, delivery, result.error, result.attempts);
    batch.foreign(held, envelope);
    return noCoCommits;
  }

  private deadLetter(
    batch: Batch,
    held: Held,
    delivery: Delivery,
    error: string,
    attempts: number,
  ): readonly CoCommitMessage[] {
    this.parked.drop(batch, delivery);
    batch.deadLetter(held, delivery, error, attempts);
    const { envelope } = delivery;
    this.options.report("dead_letter", { kind: envelope?.kind, key: envelope?.key, type: envelope?.type, error });
    return noCoCommits;
  }
}
