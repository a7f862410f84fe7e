/**
 * Messages that a sender wants handled in its own commit (`coCommit` in actors/kernel/effect.ts).
 *
 * Where the receiver lives in the sender's partition, one owner holds both and one fence guards both, so the
 * receiver's turn joins the batch right behind the sender's. A message whose turn cannot join goes through the outbox
 * like any other: then it has its own attempts and, if they fail, its own dead letter.
 */
import type { Sql } from "../../../store/postgres/pool.ts";
import { type Envelope, messageId } from "../../mailbox/envelope.ts";
import { partitionOf } from "../../mailbox/partition.ts";
import type { ParkedMessages } from "../../versions/parked.ts";
import type { ActorCache } from "../cache/actor-cache.ts";
import { mostLoaded } from "../cache/loading.ts";
import type { PoisonMessages } from "../containment/poison.ts";
import type { Held } from "../exchange/held.ts";
import type { YieldBudget } from "../intake/yield-budget.ts";
import type { CachedActor, Turns } from "../turn.ts";
import type { Batch } from "./batch.ts";
import type { CoCommitMessage } from "./co-commit-message.ts";

/** Turns that may follow from one message within its commit; an endless exchange goes on from commit to commit. */
const chainLimit = 32;
/** Likewise from all messages of one commit: all other messages of the node wait for it. */
const joinedLimit = 2048;

export interface CoCommitOptions {
  readonly sql: Sql;
  readonly turns: Turns;
  readonly partitions: number;
}

export class CoCommit {
  constructor(
    private readonly options: CoCommitOptions,
    private readonly cache: ActorCache,
    private readonly poison: PoisonMessages,
    private readonly parked: Pick<ParkedMessages, "isIn">,
  ) {}

  /**
   * Runs the co-committed messages of the turn of `original`, and those of the turns that follow, in the order told;
   * sends them through the outbox where the last attempt at one commit failed.
   * @param budget of the batch, taken between two turns as well
   * @throws when the store cannot be read; the batch is then given up as a whole
   */
  async follow(
    batch: Batch,
    held: Held,
    original: Envelope,
    first: readonly CoCommitMessage[],
    budget: YieldBudget,
  ): Promise<void> {
    const queue = [...first];
    // One of a receiver's messages went out, so the later ones of this commit must not overtake it.
    const sentOut = new Set<string>();
    // Where messages wait for a node that knows them, none may overtake those of its receiver.
    const isApart =
      this.poison.of(original) !== null || batch.setAside.rows.length > 0 || this.parked.isIn(held.partition);
    const limit = isApart ? 0 : chainLimit;
    let count = 0;
    for (let index = 0; index < queue.length; index++) {
      const told = queue[index] as CoCommitMessage;
      const name = `${told.kind}/${told.key}`;
      const isFull = count === limit || batch.joined >= joinedLimit;
      if (isFull || sentOut.has(name) || !this.isBeside(told, held)) {
        batch.sendOut(held, told);
        continue;
      }
      if (budget.isDue) await budget.take();
      count++;
      batch.joined++;
      if (!this.cache.has(name)) await this.bring(queue.slice(index), held);
      const more = this.turn(batch, held, told, original, count);
      if (more !== null) queue.push(...more);
      else {
        sentOut.add(name);
        batch.sendOut(held, told);
      }
    }
  }

  private isBeside({ kind, key }: CoCommitMessage, held: Held): boolean {
    return partitionOf(kind, key, this.options.partitions) === held.partition;
  }

  /** One receiver's turn; null when it did not come about and left everything as it was. */
  private turn(
    batch: Batch,
    held: Held,
    told: CoCommitMessage,
    original: Envelope,
    count: number,
  ): readonly CoCommitMessage[] | null {
    const actor = this.cache.get(`${told.kind}/${told.key}`) as CachedActor;
    const envelope = envelopeOf(told, original, count);
    const result = batch.run(this.options.turns, actor, envelope);
    return result.result === "done" ? batch.done(held, actor, envelope, result) : null;
  }

  /**
   * Loads the receivers that are not in memory, the first at least and more while their states are small enough; those
   * made this moment need no look into the store.
   */
  private async bring(queue: readonly CoCommitMessage[], held: Held): Promise<void> {
    const missing = new Map<string, CoCommitMessage & { readonly partition: number }>();
    for (const told of queue) {
      const name = `${told.kind}/${told.key}`;
      if (this.cache.has(name) || missing.has(name) || !this.isBeside(told, held)) continue;
      missing.set(name, { ...told, partition: held.partition });
    }
    await this.cache.bring(this.options.sql, missing, [], mostLoaded);
  }
}

/** Numbered behind the message it follows from, so that it has the same id whenever that one is taken again. */
function envelopeOf({ kind, key, tenant, wire }: CoCommitMessage, original: Envelope, count: number): Envelope {
  // As it would arrive by way of the outbox: JSON that shares no object with the sender's state.
  const [, , , , type, body, version] = JSON.parse(wire) as [
    "tell",
    string,
    string,
    string,
    string,
    Envelope["body"],
    number?,
  ];
  return {
    source: messageId(original),
    sequence: count,
    kind,
    key,
    tenant,
    type,
    body,
    replyTo: null,
    activity: null,
    fresh: false,
    ...(version === undefined ? {} : { version }),
  };
}
