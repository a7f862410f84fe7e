/**
 * The lane works through the messages of this node's partitions, in order: read, turn, commit, carry out, again.
 * A node has one: docs/decisions/one-lane-per-node.md.
 *
 * When a commit fails the lane trusts nothing it holds in memory: it takes its partitions again under
 * a new epoch, which also ends a commit still under way, and starts over from what is committed.
 */
import { isDatabaseUnavailable } from "../../store/postgres.ts";
import { clearOutbox, loadOutbox } from "../effects/outbox.ts";
import { compareStreamIds, type Delivery } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import { retryUntil } from "../timeout.ts";
import { ActorCache } from "./actor-cache.ts";
import { Batch, type CoCommitMessage, type Held, isRepeat, noCoCommits } from "./batch.ts";
import { BatchSize } from "./batch-size.ts";
import { CoCommit } from "./co-commit.ts";
import { PartitionLost } from "./journal.ts";
import type { LaneOptions } from "./options.ts";
import { PoisonMessages } from "./poison.ts";
import type { CachedActor } from "./turn.ts";
import { YieldBudget } from "./yield-budget.ts";

export class Lane {
  readonly held = new Map<number, Held>();
  private readonly cache: ActorCache;
  private readonly coCommit: CoCommit;
  private readonly batchSize: BatchSize;
  private inbox: Delivery[] = [];
  private readonly buffered = new Map<number, number>();
  private readonly controls: (() => Promise<void>)[] = [];
  private wakeUp: (() => void) | null = null;
  private stopping = false;
  private running: Promise<void> | null = null;
  /** Messages to take one by one after a batch that PostgreSQL would not store. */
  private leftToIsolate = 0;
  /** The effects on their way out. */
  private publishing: Promise<void> = Promise.resolve();
  private readonly poison = new PoisonMessages();
  /** Since when the batch under way is worked on, Unix ms; null between batches. */
  busySince: number | null = null;
  readonly counts = { turns: 0, commits: 0, deadLetters: 0 };

  constructor(private readonly options: LaneOptions) {
    this.cache = new ActorCache(options);
    this.coCommit = new CoCommit(options, this.cache, this.poison);
    this.batchSize = new BatchSize(options.batchSize);
  }

  start(): void {
    this.running = this.loop();
  }

  /** Finishes the batch under way and ends. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.wakeUp?.();
    await this.running;
  }

  hasRoom(partition: number): boolean {
    return (this.buffered.get(partition) ?? 0) < this.options.bufferLimit;
  }

  get backlog(): number {
    return this.inbox.length;
  }

  deliver(delivery: Delivery): void {
    if (!this.held.has(delivery.partition)) return;
    this.inbox.push(delivery);
    this.buffered.set(delivery.partition, (this.buffered.get(delivery.partition) ?? 0) + 1);
    this.wakeUp?.();
  }

  /** Takes over partitions: first what their former owner left undone, then their mailboxes. */
  attach(owned: readonly OwnedPartition[]): Promise<void> {
    return this.control(async () => {
      await this.restart(owned);
    });
  }

  /** Gives partitions up between two batches; their next owner starts from what is committed. */
  detach(partitions: readonly number[]): Promise<void> {
    return this.control(async () => {
      this.drop(partitions);
      this.poison.forget(partitions);
    });
  }

  private control(act: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.controls.push(() => act().then(resolve, reject));
      this.wakeUp?.();
    });
  }

  private async loop(): Promise<void> {
    while (!this.stopping) {
      const control = this.controls.shift();
      if (control !== undefined) {
        await control();
        continue;
      }
      if (this.inbox.length === 0) {
        this.cache.sweep();
        await new Promise<void>((resolve) => {
          this.wakeUp = resolve;
        });
        this.wakeUp = null;
        // Messages come in bursts: let the rest of this one arrive, so that it shares a commit.
        await new YieldBudget().take();
        continue;
      }
      const deliveries = this.next();
      this.busySince = this.options.clock.now();
      await this.process(deliveries);
      this.busySince = null;
    }
    for (const control of this.controls.splice(0)) await control();
    await this.publishing;
  }

  private next(): Delivery[] {
    const size = this.leftToIsolate > 0 ? 1 : this.batchSize.current;
    if (this.leftToIsolate > 0) this.leftToIsolate--;
    const taken = this.inbox.length <= size ? this.inbox : this.inbox.slice(0, size);
    this.inbox = this.inbox.length <= size ? [] : this.inbox.slice(size);
    let roomAgain = false;
    for (const { partition } of taken) {
      const count = this.buffered.get(partition) ?? 0;
      if (count === this.options.bufferLimit) roomAgain = true;
      this.buffered.set(partition, Math.max(0, count - 1));
    }
    if (roomAgain) this.options.wakeReader();
    return taken;
  }

  private async process(deliveries: readonly Delivery[]): Promise<void> {
    const { options } = this;
    const batch = new Batch(options.node, options.clock, options.isHostBound);
    try {
      const live = await this.load(deliveries);
      const budget = new YieldBudget();
      for (const delivery of deliveries) {
        if (budget.isDue) await budget.take();
        const held = this.held.get(delivery.partition);
        if (held === undefined) continue;
        const told = this.turn(batch, held, delivery, live);
        const original = told.length > 0 ? delivery.envelope : null;
        if (original !== null) await this.coCommit.follow(batch, held, original, told, budget);
      }
      if (batch.touched.size === 0) return;
      options.crash("before_commit");
      await options.journal.commit(batch.toCommit(options.projections, options.turns.listedOf, options.factWriters));
      this.batchSize.note(this.cache.weigh(batch.actors));
    } catch (error) {
      await this.recover(batch, deliveries, error);
      return;
    }
    this.poison.settle(deliveries);
    await this.carryOut(batch);
  }

  /** Brings the actors of the batch into memory; answers which awaited outcomes are still wanted. */
  private async load(deliveries: readonly Delivery[]): Promise<ReadonlyMap<string, boolean>> {
    const missing = new Map<string, { kind: string; key: string; partition: number; tenant: string; fresh: boolean }>();
    const activities: string[] = [];
    for (const { envelope, partition } of deliveries) {
      const held = this.held.get(partition);
      // A repeat is not run; and that its actor was new once says nothing about now.
      if (envelope === null || held === undefined || isRepeat(held, envelope)) continue;
      const { kind, key, tenant, activity, fresh } = envelope;
      if (activity !== null) activities.push(activity);
      if (this.poison.of(envelope)?.error) continue;
      const name = `${kind}/${key}`;
      if (!this.cache.has(name) && !missing.has(name)) missing.set(name, { kind, key, partition, tenant, fresh });
    }
    return this.cache.bring(this.options.sql, missing, activities);
  }

  /** Takes one message into the batch. @returns the messages of its turn to be co-committed */
  private turn(
    batch: Batch,
    held: Held,
    delivery: Delivery,
    live: ReadonlyMap<string, boolean>,
  ): readonly CoCommitMessage[] {
    if (!batch.take(held, delivery)) return noCoCommits;
    const { envelope } = delivery;
    if (envelope === null) return this.deadLetter(batch, held, delivery, "unreadable mailbox entry", 1);
    if (envelope.activity !== null && !batch.awaits(envelope.activity, live)) return noCoCommits;
    const error = this.poison.of(envelope)?.error ?? null;
    const { timer, rearm } = delivery;
    if (error !== null) {
      if (timer !== undefined) batch.fired(held, timer);
      return this.deadLetter(batch, held, delivery, error, 2);
    }
    const actor = this.cache.get(`${envelope.kind}/${envelope.key}`) as CachedActor;
    if (timer !== undefined && !batch.fired(held, timer, actor)) return noCoCommits;
    if (rearm !== undefined) {
      batch.rearm(this.options.turns, held, actor, envelope, rearm);
      return noCoCommits;
    }
    const result = batch.run(this.options.turns, actor, envelope);
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
    batch.deadLetter(held, delivery, error, attempts);
    const { envelope } = delivery;
    this.options.report("dead_letter", { kind: envelope?.kind, key: envelope?.key, type: envelope?.type, error });
    return noCoCommits;
  }

  /** What follows a commit. From here on a crash loses nothing: the next owner does the rest. */
  private async carryOut(batch: Batch): Promise<void> {
    const { options } = this;
    this.counts.turns += batch.turns;
    this.counts.commits++;
    this.counts.deadLetters += batch.deadLetterCount;
    options.crash("after_commit");
    for (const [held, published] of batch.clearing) held.cleared = published;
    options.timers.committed(batch.timers.set, batch.timers.gone);
    for (const reply of batch.replies) options.reply(reply);
    if (batch.news.size > 0) options.announce([...batch.news.values()]);
    if (batch.activities.length > 0) options.perform(batch.activities);
    if (batch.abandoned.length > 0) options.abandon(batch.abandoned);
    if (batch.outbox.length > 0) await this.publish(batch);
    for (const held of batch.advanced) options.trim(held.partition, held.mailboxOffset);
    this.cache.evict();
  }

  /**
   * Carries out the batch's effects while the next batch is worked on; resolves when those of the batch
   * before are out, so that effects keep their order and never pile up.
   */
  private async publish(batch: Batch): Promise<void> {
    const marks = [...batch.touched].map((held) => [held, held.outboxSequence] as const);
    await this.publishing;
    const carriedOut = retryUntil(
      () => this.options.outbox.publish(batch.outbox),
      () => this.stopping,
    );
    this.publishing = carriedOut.then((out) => {
      if (!out) return;
      for (const [held, sequence] of marks) held.published = sequence;
      this.options.crash("after_publish");
    });
  }

  private async recover(batch: Batch, deliveries: readonly Delivery[], error: unknown): Promise<void> {
    const partitions = [...new Set(deliveries.map((delivery) => delivery.partition))].filter((one) =>
      this.held.has(one),
    );
    this.options.report("commit_failed", { error: error instanceof Error ? error.message : String(error), partitions });
    const storable = error instanceof PartitionLost || isDatabaseUnavailable(error);
    const again = storable ? [] : this.isolate(batch, deliveries, error);
    // Everything held may be in doubt, not only this batch's partitions: they share the actors' cache.
    const all = [...this.held.keys()];
    for (let pause = 50; !this.stopping; pause = Math.min(1000, pause * 2)) {
      try {
        const owned = await this.options.leases.retake(all);
        const committed = this.wasCommitted(batch, owned);
        if (committed) for (const reply of batch.replies) this.options.reply(reply);
        const kept = new Set(owned.map((one) => one.partition));
        this.refuse([...deliveries, ...again].filter((one) => !again.includes(one) || !kept.has(one.partition)));
        this.drop(all);
        await this.restart(owned);
        for (const delivery of again) this.deliver(delivery);
        const gone = all.filter((one) => !kept.has(one));
        this.poison.forget(gone);
        if (gone.length > 0) this.options.lost(gone);
        return;
      } catch {
        await Bun.sleep(pause);
      }
    }
  }

  /**
   * Has the messages of a batch that cannot be stored taken one by one, until the poison message comes alone.
   * @returns those to hand in again, since they stand in no mailbox
   */
  private isolate(batch: Batch, deliveries: readonly Delivery[], error: unknown): readonly Delivery[] {
    this.leftToIsolate = deliveries.length + 1;
    const again = [...deliveries, ...this.inbox].filter(
      // A message that cannot be stored even as a dead letter is not taken again.
      ({ id, envelope }) => id === null && envelope !== null && (this.poison.of(envelope)?.error ?? null) === null,
    );
    this.inbox = this.inbox.filter((delivery) => !again.includes(delivery));
    const [only] = deliveries;
    if (deliveries.length === 1 && only !== undefined) this.poison.note(only, batch.joined > 0, error);
    return again;
  }

  /** A batch is committed as a whole, so one of its partitions tells for all. */
  private wasCommitted(batch: Batch, owned: readonly OwnedPartition[]): boolean {
    const now = new Map(owned.map((one) => [one.partition, one]));
    for (const held of batch.advanced) {
      const row = now.get(held.partition);
      if (row !== undefined) return compareStreamIds(row.mailboxOffset, held.mailboxOffset) >= 0;
    }
    return false;
  }

  private async restart(owned: readonly OwnedPartition[]): Promise<void> {
    if (owned.length === 0) return;
    const partitions = owned.map((one) => one.partition);
    const left = await loadOutbox(this.options.sql, partitions);
    await this.options.outbox.publish(left);
    await Promise.all(owned.map((one) => this.options.keepIdsAbove(one.partition, one.mailboxOffset)));
    for (const one of owned) {
      this.held.set(one.partition, {
        partition: one.partition,
        epoch: one.epoch,
        mailboxOffset: one.mailboxOffset,
        sources: new Map(JSON.parse(one.sources) as [string, [number, number]][]),
        outboxSequence: one.outboxSequence,
        published: one.outboxSequence,
        cleared: 0,
      });
      this.options.follow(one.partition, one.mailboxOffset);
    }
    this.options.timers.attach(partitions);
    this.options.refreshTails(partitions);
  }

  private drop(partitions: readonly number[]): void {
    const gone = new Set(partitions);
    this.options.timers.detach(partitions);
    for (const partition of partitions) {
      this.held.delete(partition);
      this.buffered.delete(partition);
      this.options.unfollow(partition);
    }
    this.refuse(this.inbox.filter((delivery) => gone.has(delivery.partition)));
    this.inbox = this.inbox.filter((delivery) => !gone.has(delivery.partition));
    this.cache.drop(gone);
  }

  /** Messages that stand in no mailbox will not be read again: their callers get `RuntimeUnavailable`. */
  private refuse(deliveries: readonly Delivery[]): void {
    for (const { id, envelope } of deliveries) {
      if (id !== null || envelope === null || envelope.replyTo === null) continue;
      this.options.reply({
        call: envelope.replyTo.call,
        answer: { unavailable: "The actor moved or its store is away" },
      });
    }
  }

  get cachedActors(): number {
    return this.cache.size;
  }

  /** Called now and then, so that idle actors leave memory and spent effects the outbox where no message arrives. */
  async tick(): Promise<void> {
    if (this.busySince !== null) return;
    this.cache.sweep();
    const spent = [...this.held.values()].filter((held) => held.published > held.cleared);
    if (spent.length === 0) return;
    const marks = spent.map((held) => [held, held.published] as const);
    await clearOutbox(
      this.options.sql,
      marks.map(([held, published]) => ({ partition: held.partition, seq: published })),
    );
    for (const [held, published] of marks) held.cleared = Math.max(held.cleared, published);
  }
}
