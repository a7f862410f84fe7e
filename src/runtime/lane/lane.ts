/**
 * The lane works through the messages of this node's partitions: read, turn, commit, carry out, again; those of one
 * mailbox in order, those of different tenants by turns (`intake/inbox.ts`). A node has one:
 * docs/decisions/one-lane-per-node.md.
 *
 * When PostgreSQL refuses a batch for what is in it, its messages are taken again in halves, until the one to blame
 * comes alone (`containment/blame.ts`). When a commit fails in any other way the lane trusts nothing it holds in
 * memory: it takes its partitions again under a new epoch, which also ends a commit still under way, and starts over
 * from what is committed.
 */
import type { Delivery } from "../mailbox/mailbox.ts";
import type { OwnedPartition } from "../ownership/lease.ts";
import { Batch, type CoCommitMessage, noCoCommits } from "./batch/batch.ts";
import { CoCommit } from "./batch/co-commit.ts";
import { Parking } from "./batch/parking.ts";
import { ActorCache } from "./cache/actor-cache.ts";
import { fittingOf, mostLoaded, wantedBy } from "./cache/loading.ts";
import {
  clearCarriedOut,
  commitOf,
  committedOf,
  isUncommitted,
  refusalsOf,
  settleMailboxes,
  tellOf,
  wasCommitted,
} from "./committed.ts";
import { halvesOf, isConnectionDeath, isOwnFault, withStoredActors } from "./containment/blame.ts";
import { Careful } from "./containment/careful.ts";
import { PoisonMessages } from "./containment/poison.ts";
import type { Held } from "./exchange/held.ts";
import { Publishing } from "./exchange/publishing.ts";
import { Refill } from "./exchange/refill.ts";
import { takeOver } from "./exchange/take-over.ts";
import { BatchSize } from "./intake/batch-size.ts";
import { Inbox, takeOut } from "./intake/inbox.ts";
import { companies } from "./intake/large.ts";
import { YieldBudget } from "./intake/yield-budget.ts";
import type { LaneOptions } from "./options.ts";
import type { CachedActor } from "./turn.ts";

export class Lane {
  readonly held = new Map<number, Held>();
  readonly cache: ActorCache;
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
  private readonly publishing: Publishing;
  private readonly poison = new PoisonMessages();
  private readonly careful: Careful;
  private readonly parked: Parking;
  private readonly waiting: Refill;
  /** Since when the batch under way is worked on, on the monotonic clock, ms; null between batches. */
  busySince: number | null = null;
  readonly counts = { turns: 0, commits: 0, deadLetters: 0 };

  constructor(private readonly options: LaneOptions) {
    this.cache = new ActorCache(options);
    this.publishing = new Publishing(options, this.held, () => this.stopping);
    this.parked = new Parking(options);
    this.coCommit = new CoCommit(options, this.cache, this.poison, this.parked);
    this.batchSize = new BatchSize(options.batchSize);
    this.careful = new Careful(options, this.poison);
    this.inbox = new Inbox(options.inbox, (partition) => options.mayDivide() && this.careful.mayDivide(partition));
    this.waiting = new Refill(options.sql, () => this.wakeUp?.());
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
    return !this.held.get(partition)?.arrivals.isFull && this.inbox.hasRoom(partition);
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
    const held = this.held.get(delivery.partition);
    if (held === undefined) return;
    held.arrivals.arrive(delivery, held.received, held.incarnation);
    this.inbox.push(delivery);
    this.wakeUp?.();
  }

  /** Takes over partitions: first what their former owner left undone, then their mailboxes. */
  attach(owned: readonly OwnedPartition[]): Promise<void> {
    return this.control(async () => {
      await this.careful.begin(owned);
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

  /** Has messages that wait for these partitions in PostgreSQL taken, once; all when none are named. */
  refill(partitions: Iterable<number> = this.held.keys()): void {
    this.waiting.want(partitions);
    this.wakeUp?.();
  }

  /** Takes all partitions anew where the database is not the one that they were taken from. */
  async checkIncarnation(incarnation: string): Promise<void> {
    if ([...this.held.values()].every((held) => held.incarnation === incarnation)) return;
    await this.control(async () => {
      const all = [...this.held.keys()];
      const owned = await this.options.leases.retake(all);
      this.drop(all);
      await this.restart(owned);
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
      if (this.waiting.isDue) {
        for (const delivery of await this.waiting.read(this.held)) this.deliver(delivery);
        continue; // Meanwhile it may have been asked for something else.
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
      // Messages that waited, where it is their turn; those read before stand before them.
      if (this.parked.isDue && this.again.length === 0)
        this.again.push(...this.careful.apart((await this.parked.take(this.isIdle)) ?? []));
      const deliveries = this.next();
      this.busySince = performance.now();
      await this.process(deliveries);
      this.busySince = null;
    }
    for (const control of this.controls.splice(0)) await control();
    await this.publishing.done;
  }

  private get isIdle(): boolean {
    return this.inbox.size === 0 && this.again.length === 0;
  }

  private next(): readonly Delivery[] {
    if (this.again.length > 0) return this.again.shift() as readonly Delivery[];
    const companyOf = companies(this.cache, this.careful.companyOf);
    return this.inbox.next(this.batchSize.current, companyOf, this.options.wakeReader);
  }

  private async process(given: readonly Delivery[]): Promise<void> {
    const { options } = this;
    let deliveries = given;
    const batch = new Batch(options.node, options.clock, options.isHostBound, options.partitions, this.parked.isIn);
    try {
      await this.careful.mark(given);
      const [{ live, left }] = await Promise.all([this.load(given), this.parked.block(batch, given)]);
      const [fitting, others] = fittingOf(given, left);
      deliveries = fitting;
      if (others.length > 0) this.again.unshift(others);
      const budget = new YieldBudget();
      for (const [index, delivery] of deliveries.entries()) {
        if (budget.isDue && this.inbox.cut(deliveries, index, this.again)) deliveries = deliveries.slice(0, index);
        if (index >= deliveries.length) break;
        if (budget.isDue) await budget.take();
        const held = this.held.get(delivery.partition);
        if (held === undefined) continue;
        const told = this.turn(batch, held, delivery, live);
        const original = delivery.envelope;
        if (told.length > 0 && original !== null) await this.coCommit.follow(batch, held, original, told, budget);
      }
      if (batch.touched.size === 0) return;
      options.crash("before_commit");
      await options.journal.commit(commitOf(batch, options));
      this.batchSize.note(this.cache.weigh(batch.actors));
    } catch (error) {
      await this.recover(batch, deliveries, error);
      return;
    }
    this.failures = 0;
    this.waiting.settle(deliveries);
    this.poison.settle(deliveries);
    this.careful.settle(deliveries);
    await this.carryOut(batch);
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
    options.timers.committed(batch.timers.set, batch.timers.gone);
    for (const [projection, changes] of batch.projected) projection.committed?.(changes);
    if (batch.exchange.gaps.size > 0) this.refill(batch.exchange.gaps);
    tellOf(batch, options);
    if (batch.outbox.length > 0) await this.publishing.publish(batch);
    settleMailboxes(batch, options);
    this.cache.evict();
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
        const committed = await wasCommitted(this.options.sql, batch, owned);
        if (committed) for (const reply of batch.replies) this.options.reply(reply);
        else if (isConnectionDeath(error)) this.careful.cut(deliveries);
        this.refuse(deliveries, isUncommitted(error));
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
    for (const { kind, key } of [...batch.actors, ...deliveries.flatMap(({ envelope }) => envelope ?? [])])
      this.cache.delete(`${kind}/${key}`);
    batch.undo();
    const owned = await this.options.leases.retake(partitions).catch(() => null);
    if (owned === null) return false;
    for (const one of owned) {
      const held = this.held.get(one.partition);
      if (held !== undefined) Object.assign(held, committedOf(one));
    }
    const kept = new Set(owned.map((one) => one.partition));
    const lost = partitions.filter((one) => !kept.has(one));
    if (lost.length > 0) {
      const refused = deliveries.filter((one) => !kept.has(one.partition));
      this.refuse(refused, true);
      this.drop(lost);
      this.leave(lost, []);
    }
    const again = deliveries.filter((one) => kept.has(one.partition));
    const loaded = withStoredActors(error, again);
    const [only, other] = deliveries;
    if (loaded === null && only !== undefined && other === undefined) this.poison.note(only, batch.joined > 0, error);
    this.again.unshift(...(loaded === null ? halvesOf(again) : [loaded]));
    return true;
  }

  /** Says which of the partitions another node has now. */
  private leave(all: readonly number[], owned: readonly OwnedPartition[]): void {
    const gone = all.filter((one) => !owned.some(({ partition }) => partition === one));
    if (gone.length === 0) return;
    this.careful.forget(gone);
    this.options.lost(gone);
  }

  /** Messages that stand in no mailbox will not be read again. @param untaken whether certainly no commit took them */
  private refuse(deliveries: readonly Delivery[], untaken: boolean): void {
    this.waiting.settle(deliveries);
    for (const reply of refusalsOf(deliveries, untaken)) this.options.reply(reply);
  }

  private async restart(owned: readonly OwnedPartition[]): Promise<void> {
    if (owned.length === 0) return;
    for (const held of await takeOver(this.options, this.publishing, this.parked, owned)) {
      this.held.set(held.partition, held);
      this.options.follow(held.partition, held.mailboxOffset);
    }
    const partitions = owned.map((one) => one.partition);
    this.refill(partitions);
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
    this.refuse([...this.inbox.remove(gone), ...takeOut(this.again, gone)], true);
    this.parked.forget(partitions);
    this.cache.drop(gone);
  }

  /** Called now and then, so that idle actors leave memory and spent effects the outbox; not all of it waits for idleness. */
  async tick(): Promise<void> {
    await this.careful.relax(this.inbox, this.held);
    await this.waiting.tick(this.held);
    if (this.busySince !== null) return;
    this.cache.sweep();
    await clearCarriedOut(this.options.sql, [...this.held.values()]);
  }
}

/** Between tries at a database that does not answer, and between batches that fail again and again, ms. */
const [firstPauseMs, longestPauseMs] = [50, 1000];
