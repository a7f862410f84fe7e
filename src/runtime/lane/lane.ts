/**
 * The lane works through the messages of this node's partitions: read, turn, commit, carry out, again; those of one
 * mailbox in order, those of different tenants by turns (`inbox.ts`). A node has one: docs/decisions/one-lane-per-node.md.
 *
 * When PostgreSQL refuses a batch for what is in it, its messages are taken again in halves, until the one to blame
 * comes alone (`blame.ts`). When a commit fails in any other way the lane trusts nothing it holds in memory: it takes its
 * partitions again under a new epoch, which also ends a commit still under way, and starts over from what is committed.
 */
import { clearOutbox, loadOutbox } from "../effects/outbox.ts";
import type { Delivery } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import { retryUntil } from "../timeout.ts";
import { ActorCache } from "./actor-cache.ts";
import { Batch, type CoCommitMessage, type Held, noCoCommits } from "./batch.ts";
import { BatchSize } from "./batch-size.ts";
import { isConnectionDeath, isOwnFault, Unstorable } from "./blame.ts";
import { Careful } from "./careful.ts";
import { CoCommit } from "./co-commit.ts";
import type { Commit } from "./commit/commit.ts";
import { committedOf, heldOf, refusalsOf, wasCommitted } from "./committed.ts";
import { Inbox } from "./inbox.ts";
import { fittingOf, mostLoaded, wantedBy } from "./loading.ts";
import type { LaneOptions } from "./options.ts";
import { Parking } from "./parking.ts";
import { PoisonMessages } from "./poison.ts";
import type { CachedActor } from "./turn.ts";
import { YieldBudget } from "./yield-budget.ts";

export class Lane {
  readonly held = new Map<number, Held>();
  private readonly cache: ActorCache;
  private readonly coCommit: CoCommit;
  private readonly batchSize: BatchSize;
  private readonly inbox: Inbox;
  /** Parts of batches that PostgreSQL refused, or that were too large, to be taken before everything else. */
  private readonly again: (readonly Delivery[])[] = [];
  private readonly controls: (() => Promise<void>)[] = [];
  private wakeUp: (() => void) | null = null;
  private stopping = false;
  private running: Promise<void> | null = null;
  /** Batches in a row that failed without being refused. */
  private failures = 0;
  /** The effects on their way out. */
  private publishing: Promise<void> = Promise.resolve();
  private readonly poison = new PoisonMessages();
  private readonly careful: Careful;
  private readonly parked: Parking;
  /** Since when the batch under way is worked on, on the monotonic clock, ms; null between batches. */
  busySince: number | null = null;
  readonly counts = { turns: 0, commits: 0, deadLetters: 0 };

  constructor(private readonly options: LaneOptions) {
    this.cache = new ActorCache(options);
    this.parked = new Parking(options);
    this.coCommit = new CoCommit(options, this.cache, this.poison, this.parked);
    this.batchSize = new BatchSize(options.batchSize);
    this.careful = new Careful(options, this.poison);
    this.inbox = new Inbox(options.inbox);
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

  /** Whether the mailbox of a partition is to be read on. */
  hasRoom(partition: number): boolean {
    return this.inbox.hasRoom(partition);
  }

  /** Whether a message of a tenant may be handed over in memory. */
  takes(partition: number, tenant: string): boolean {
    return this.held.has(partition) && this.inbox.takes(tenant);
  }

  get backlog(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.inbox.size, bytes: this.inbox.bytes };
  }

  /** Whether what a dead owner left is still taken carefully. */
  get isCareful(): boolean {
    return this.careful.isActive;
  }

  deliver(delivery: Delivery): void {
    if (!this.held.has(delivery.partition)) return;
    this.inbox.push(delivery);
    this.wakeUp?.();
  }

  /** Takes over partitions: first what their former owner left undone, then their mailboxes. */
  attach(owned: readonly OwnedPartition[]): Promise<void> {
    return this.control(async () => {
      await this.careful.begin(owned.filter((one) => one.isInherited).map((one) => one.partition));
      await this.restart(owned);
    });
  }

  /** Gives partitions up between two batches; their next owner starts from what is committed. */
  detach(partitions: readonly number[]): Promise<void> {
    return this.control(async () => {
      this.drop(partitions);
      this.careful.forget(partitions);
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
      if (this.isIdle && !this.parked.isDue) {
        this.cache.sweep();
        await new Promise<void>((resolve) => {
          this.wakeUp = resolve;
        });
        this.wakeUp = null;
        // Messages come in bursts: let the rest of this one arrive, so that it shares a commit.
        await new YieldBudget().take();
        continue;
      }
      const deliveries = (this.parked.isDue ? await this.parked.take(this.isIdle) : null) ?? this.next();
      this.busySince = performance.now();
      await this.process(deliveries);
      this.busySince = null;
    }
    for (const control of this.controls.splice(0)) await control();
    await this.publishing;
  }

  private get isIdle(): boolean {
    return this.inbox.size === 0 && this.again.length === 0;
  }

  private next(): readonly Delivery[] {
    const part = this.again.shift();
    if (part !== undefined) return part;
    return this.inbox.next(this.batchSize.current, this.careful.companyOf, this.options.wakeReader);
  }

  private async process(given: readonly Delivery[]): Promise<void> {
    const { options } = this;
    let deliveries = given;
    const batch = new Batch(options.node, options.clock, options.isHostBound, this.parked.isIn);
    try {
      await this.careful.mark(given);
      const [{ live, left }] = await Promise.all([this.load(given), this.parked.block(batch, given)]);
      const [fitting, others] = fittingOf(given, left);
      deliveries = fitting;
      if (others.length > 0) this.again.unshift(others);
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
      await options.journal.commit(this.commitOf(batch));
      this.batchSize.note(this.cache.weigh(batch.actors));
    } catch (error) {
      await this.recover(batch, deliveries, error);
      return;
    }
    this.failures = 0;
    this.poison.settle(deliveries);
    this.careful.settle(deliveries);
    await this.carryOut(batch);
  }

  /** @throws Unstorable whatever a projection or a state does not allow: nothing was sent yet */
  private commitOf(batch: Batch): Commit {
    const { projections, turns, factWriters } = this.options;
    try {
      return batch.toCommit(projections, turns.listedOf, factWriters);
    } catch (error) {
      throw new Unstorable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /** Brings the actors of the batch into memory; tells which awaited outcomes are still wanted, and who did not fit. */
  private load(deliveries: readonly Delivery[]): ReturnType<ActorCache["bring"]> {
    const { missing, activities } = wantedBy(deliveries, this.held, this.poison, this.cache);
    return this.cache.bring(this.options.sql, missing, activities, mostLoaded);
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
    const { timer, rearm } = delivery;
    const poison = this.poison.of(envelope);
    if (poison?.error) {
      if (timer !== undefined) batch.fired(held, timer);
      return this.deadLetter(batch, held, delivery, poison.error, poison.attempts);
    }
    const actor = this.cache.get(`${envelope.kind}/${envelope.key}`) as CachedActor;
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

  /** What follows a commit. From here on a crash loses nothing: the next owner does the rest. */
  private async carryOut(batch: Batch): Promise<void> {
    const { options } = this;
    this.counts.turns += batch.turns;
    this.counts.commits++;
    this.counts.deadLetters += batch.deadLetterCount;
    options.crash("after_commit");
    this.parked.noteAll(batch);
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
    const partitions = [...new Set(deliveries.map(({ partition }) => partition))].filter((one) => this.held.has(one));
    this.options.report("commit_failed", { error: error instanceof Error ? error.message : String(error), partitions });
    if (isOwnFault(error) && (await this.split(batch, deliveries, partitions, error))) return;
    this.batchSize.shrink();
    // What fails again and again with a database that answers is not to keep it busy.
    if (this.failures++ > 0) await Bun.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** this.failures));
    // Everything held may be in doubt, not only this batch's partitions: they share the actors' cache.
    const all = [...this.held.keys()];
    for (let pause = firstPauseMs; !this.stopping; pause = Math.min(longestPauseMs, pause * 2)) {
      try {
        const owned = await this.options.leases.retake(all);
        const committed = wasCommitted(batch, owned);
        if (committed) for (const reply of batch.replies) this.options.reply(reply);
        else if (isConnectionDeath(error)) this.careful.cut(deliveries);
        this.refuse(deliveries);
        this.drop(all);
        await this.restart(owned);
        this.leave(all, owned);
        return;
      } catch {
        await Bun.sleep(pause);
      }
    }
  }

  /**
   * Has a batch that cannot be stored taken again in halves, until the message to blame comes alone. Nothing of it was
   * committed, so what is held goes back to what is, and only the actors of these turns leave memory.
   * @returns false when the database did not answer
   */
  private async split(
    batch: Batch,
    deliveries: readonly Delivery[],
    partitions: readonly number[],
    error: unknown,
  ): Promise<boolean> {
    for (const { kind, key } of batch.actors) this.cache.delete(`${kind}/${key}`);
    const owned = await this.options.leases.retake(partitions).catch(() => null);
    if (owned === null) return false;
    for (const one of owned) {
      const held = this.held.get(one.partition);
      if (held !== undefined) Object.assign(held, committedOf(one));
    }
    const kept = new Set(owned.map((one) => one.partition));
    const lost = partitions.filter((one) => !kept.has(one));
    if (lost.length > 0) {
      this.refuse(deliveries.filter((one) => !kept.has(one.partition)));
      this.drop(lost);
      this.leave(lost, []);
    }
    const again = deliveries.filter((one) => kept.has(one.partition));
    const [only, other] = deliveries;
    if (only !== undefined && other === undefined) this.poison.note(only, batch.joined > 0, error);
    const middle = again.length >> 1;
    this.again.unshift(...[again.slice(0, middle), again.slice(middle)].filter((half) => half.length > 0));
    return true;
  }

  /** Says which of the partitions another node has now. */
  private leave(all: readonly number[], owned: readonly OwnedPartition[]): void {
    const gone = all.filter((one) => !owned.some(({ partition }) => partition === one));
    if (gone.length === 0) return;
    this.careful.forget(gone);
    this.options.lost(gone);
  }

  /** Messages that stand in no mailbox will not be read again. */
  private refuse(deliveries: readonly Delivery[]): void {
    for (const reply of refusalsOf(deliveries)) this.options.reply(reply);
  }

  private async restart(owned: readonly OwnedPartition[]): Promise<void> {
    if (owned.length === 0) return;
    const partitions = owned.map((one) => one.partition);
    const raised = await this.parked.begin(partitions);
    const left = await this.parked.setAside(await loadOutbox(this.options.sql, partitions));
    await this.options.outbox.publish(left);
    await Promise.all(owned.map((one) => this.options.keepIdsAbove(one.partition, one.mailboxOffset)));
    for (const one of owned) {
      this.held.set(one.partition, heldOf(one, raised.get(one.partition)));
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
      this.options.unfollow(partition);
    }
    this.refuse(this.inbox.remove(gone));
    for (const part of this.again.splice(0)) {
      this.refuse(part.filter((delivery) => gone.has(delivery.partition)));
      const kept = part.filter((delivery) => !gone.has(delivery.partition));
      if (kept.length > 0) this.again.push(kept);
    }
    this.parked.forget(partitions);
    this.cache.drop(gone);
  }

  get cachedActors(): number {
    return this.cache.size;
  }

  /** Called now and then, so that idle actors leave memory and spent effects the outbox where no message arrives. */
  async tick(): Promise<void> {
    await this.careful.relax((partition) => this.inbox.has(partition));
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

/** Between tries at a database that does not answer, and between batches that fail again and again, ms. */
const firstPauseMs = 50;
const longestPauseMs = 1000;
