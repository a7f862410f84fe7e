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
import { Batch } from "./batch/batch.ts";
import { CoCommit } from "./batch/co-commit.ts";
import { Parking } from "./batch/parking.ts";
import { Taking } from "./batch/taking.ts";
import { Bell } from "./bell.ts";
import { ActorCache } from "./cache/actor-cache.ts";
import { fittingOf, mostLoaded, wantedBy, withAwaited } from "./cache/loading.ts";
import { Underway } from "./cache/underway.ts";
import { CommitAside, type CommitOutcome } from "./commit-aside.ts";
import {
  clearCarriedOut,
  commitOf,
  committedOf,
  isUncommitted,
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
import { Holding } from "./holding.ts";
import { BatchSize } from "./intake/batch-size.ts";
import { Inbox } from "./intake/inbox.ts";
import { companies } from "./intake/large.ts";
import { YieldBudget } from "./intake/yield-budget.ts";
import type { LaneOptions } from "./options.ts";

export class Lane {
  readonly held = new Map<number, Held>();
  readonly cache: ActorCache;
  private readonly coCommit: CoCommit;
  private readonly batchSize: BatchSize;
  private readonly inbox: Inbox;
  /** Parts of batches that PostgreSQL refused, or that were too large, to be taken before everything else. */
  private readonly again: (readonly Delivery[])[] = [];
  private readonly controls: (() => Promise<void>)[] = [];
  private readonly bell = new Bell();
  private stopping = false;
  private running: Promise<void> | null = null;
  /** Batches in a row that failed without being refused. */
  private failures = 0;
  private readonly publishing: Publishing;
  private readonly poison = new PoisonMessages();
  private readonly careful: Careful;
  private readonly parked: Parking;
  private readonly waiting: Refill;
  private readonly taking: Taking;
  private readonly holding: Holding;
  private readonly underway: Underway;
  private readonly aside = new CommitAside(() => this.bell.ring());
  /** Since when the batch under way is worked on, on the monotonic clock, ms; null between batches. */
  busySince: number | null = null;
  readonly counts = { turns: 0, commits: 0, deadLetters: 0 };

  constructor(private readonly options: LaneOptions) {
    this.cache = new ActorCache(options);
    this.publishing = new Publishing(options, this.held, () => this.stopping);
    this.parked = new Parking(options);
    this.coCommit = new CoCommit(options, this.cache, this.poison, this.parked);
    this.taking = new Taking(options, this.cache, this.poison, this.parked);
    this.batchSize = new BatchSize(options.batchSize);
    this.careful = new Careful(options, this.poison);
    this.inbox = new Inbox(options.inbox, (partition) => options.mayDivide() && this.careful.mayDivide(partition));
    this.waiting = new Refill(options.sql, () => this.bell.ring());
    this.underway = new Underway(options.partitions);
    const { held, inbox, again, cache, parked, careful, publishing, waiting, underway } = this;
    this.holding = new Holding(options, { held, inbox, again, cache, parked, careful, publishing, waiting, underway });
  }

  start(): void {
    this.running = this.loop();
  }

  /** Finishes the batch under way and ends. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.bell.ring();
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

  /** For how long the batch under way, or a commit beside it, is worked on, ms; 0 between batches. */
  get busyMs(): number {
    const now = performance.now();
    return Math.max(now - (this.busySince ?? now), now - (this.aside.since ?? now));
  }

  deliver(delivery: Delivery): void {
    const held = this.held.get(delivery.partition);
    if (held === undefined) return;
    held.arrivals.arrive(delivery, held.received, held.incarnation);
    this.inbox.push(delivery);
    this.bell.ring();
  }

  /** Takes over partitions: first what their former owner left undone, then their mailboxes. */
  attach(owned: readonly OwnedPartition[]): Promise<void> {
    return this.control(async () => {
      await this.careful.begin(owned);
      await this.holding.take(owned);
    });
  }

  /** Gives partitions up between two batches; their next owner starts from what is committed. */
  detach(partitions: readonly number[]): Promise<void> {
    return this.control(async () => {
      this.holding.drop(partitions);
      this.careful.forget(partitions);
    });
  }

  /** Has messages that wait for these partitions in PostgreSQL taken, once; all when none are named. */
  refill(partitions: Iterable<number> = this.held.keys()): void {
    this.waiting.want(partitions);
    this.bell.ring();
  }

  /** Takes all partitions anew where the database is not the one that they were taken from. */
  async checkIncarnation(incarnation: string): Promise<void> {
    if ([...this.held.values()].every((held) => held.incarnation === incarnation)) return;
    await this.control(async () => {
      const all = [...this.held.keys()];
      const owned = await this.options.leases.retake(all);
      this.holding.drop(all);
      await this.holding.take(owned);
    });
  }

  private control(act: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.controls.push(() => act().then(resolve, reject));
      this.bell.ring();
    });
  }

  private async loop(): Promise<void> {
    while (!this.stopping) {
      if (this.aside.isOver) await this.settleAside();
      if (this.controls.length > 0 || this.waiting.isDue) {
        await this.attend();
        continue; // Meanwhile it may have been asked for something else.
      }
      if (this.inbox.size === 0 && this.again.length === 0 && !this.parked.isDue) {
        this.cache.sweep();
        await this.bell.rung();
        // Messages come in bursts: let the rest of this one arrive, so that it shares a commit.
        await new YieldBudget().take();
        continue;
      }
      if (this.parked.isDue || this.again.length > 0) await this.gather();
      const deliveries = this.next();
      if (deliveries.length === 0 && this.aside.isHoldingBack) {
        await this.bell.rung();
        continue;
      }
      this.aside.goesOn(deliveries);
      this.busySince = performance.now();
      await this.process(deliveries);
      this.busySince = null;
    }
    await this.settleAside();
    for (const control of this.controls.splice(0)) await control();
    await this.publishing.done;
  }

  /** Does what the lane was asked for, or reads what waits for its partitions. */
  private async attend(): Promise<void> {
    const control = this.controls.shift();
    if (control === undefined) {
      for (const delivery of await this.waiting.read(this.held)) this.deliver(delivery);
      return;
    }
    await this.settleAside();
    await control();
  }

  /** Brings what goes before everything else: parts of batches, and messages that waited, where it is their turn. */
  private async gather(): Promise<void> {
    // Those read before stand before them.
    if (this.again.length === 0)
      this.again.push(...this.careful.apart((await this.parked.take(this.inbox.size === 0)) ?? []));
    // They may be of any partition.
    if (this.again.length > 0) await this.settleAside();
  }

  private next(): readonly Delivery[] {
    if (this.again.length > 0) return this.again.shift() as readonly Delivery[];
    const companyOf = companies(this.cache, this.careful.companyOf);
    const isHeldBack = this.aside.holdsBack(companyOf);
    return this.inbox.next(this.batchSize.current, companyOf, this.options.wakeReader, isHeldBack);
  }

  private async process(given: readonly Delivery[]): Promise<void> {
    const { options } = this;
    let deliveries = given;
    const batch = new Batch(options.node, options.clock, options.isHostBound, options.partitions, this.parked.isIn);
    try {
      await this.careful.mark(given);
      const known = { owned: this.held, poison: this.poison, cache: this.cache, underway: this.underway };
      const { missing, activities, awaited, names } = wantedBy(given, known);
      const [{ live: found, left }] = await Promise.all([
        this.cache.bring(options.sql, missing, activities, mostLoaded),
        this.parked.block(batch, given),
      ]);
      const live = withAwaited(found, awaited);
      const [fitting, others] = fittingOf(given, left);
      deliveries = fitting;
      if (others.length > 0) this.again.unshift(others);
      const budget = new YieldBudget();
      for (let index = 0; index < deliveries.length; index++) {
        const delivery = deliveries[index] as Delivery;
        if (budget.isDue) {
          if (this.inbox.cut(deliveries, index, this.again)) deliveries = deliveries.slice(0, index);
          if (index >= deliveries.length) break;
          await budget.take();
        }
        const held = this.held.get(delivery.partition);
        if (held === undefined) continue;
        const told = this.taking.take(batch, held, delivery, names[index] as string, live);
        const original = told.length > 0 ? delivery.envelope : null;
        if (original !== null) await this.coCommit.follow(batch, held, original, told, budget);
      }
      if (batch.touched.size === 0) return;
      options.crash("before_commit");
      const commit = commitOf(batch, options);
      if (!this.careful.isSuspicious && this.aside.suits(batch, deliveries)) {
        this.aside.begin(batch, deliveries, () => options.journal.commit(commit));
        return;
      }
      await options.journal.commit(commit);
    } catch (error) {
      // What is known of a partition begins with what its last commit came to.
      const isAnew = await this.settleAside();
      await this.recover({ batch, deliveries, error }, isAnew);
      return;
    }
    await this.committed({ batch, deliveries });
  }

  /**
   * Waits for the commit beside the lane, if there is one, and does what follows it.
   * @returns whether all partitions were taken anew because it failed
   */
  private async settleAside(): Promise<boolean> {
    const outcome = await this.aside.take();
    if (outcome === null) return false;
    const since = this.busySince;
    this.busySince = performance.now();
    const isAnew = outcome.error === null ? await this.committed(outcome) : await this.recover(outcome);
    this.busySince = since;
    return isAnew;
  }

  private async committed({ batch, deliveries }: Pick<CommitOutcome, "batch" | "deliveries">): Promise<false> {
    this.failures = 0;
    this.batchSize.note(this.cache.weigh(batch.actors));
    this.waiting.settle(deliveries);
    this.poison.settle(deliveries);
    this.careful.settle(deliveries);
    await this.carryOut(batch);
    return false;
  }

  /** What follows a commit. From here on a crash loses nothing: the next owner does the rest. */
  private async carryOut(batch: Batch): Promise<void> {
    const { options } = this;
    this.counts.turns += batch.turns;
    this.counts.commits++;
    this.counts.deadLetters += batch.deadLetterCount;
    options.crash("after_commit");
    this.parked.noteAll(batch);
    this.underway.note(batch);
    options.timers.committed(batch.timers.set, batch.timers.gone);
    for (const [projection, changes] of batch.projected) projection.committed?.(changes);
    if (batch.exchange.gaps.size > 0) this.refill(batch.exchange.gaps);
    tellOf(batch, options);
    if (batch.outbox.length > 0) await this.publishing.publish(batch);
    settleMailboxes(batch, options);
    this.cache.evict();
  }

  /**
   * @param isAnew whether all partitions were taken anew since the batch began: its messages come again by themselves
   * @returns whether they are now
   */
  private async recover({ batch, deliveries, error }: CommitOutcome, isAnew = false): Promise<boolean> {
    const partitions = [...new Set(deliveries.map(({ partition }) => partition))].filter((one) => this.held.has(one));
    this.options.report("commit_failed", { error: error instanceof Error ? error.message : String(error), partitions });
    if (!isAnew && isOwnFault(error) && (await this.split(batch, deliveries, partitions, error))) return false;
    this.batchSize.shrink();
    // What fails again and again with a database that answers is not to keep it busy.
    if (this.failures++ > 0) await Bun.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** this.failures));
    // Everything held may be in doubt, not only this batch's partitions: they share the actors' cache.
    const all = [...this.held.keys()];
    let isJudged = false;
    for (let pause = firstPauseMs; !this.stopping; pause = Math.min(longestPauseMs, pause * 2)) {
      try {
        const owned = await this.options.leases.retake(all);
        const committed = await wasCommitted(this.options.sql, batch, owned);
        if (committed) for (const reply of batch.replies) this.options.reply(reply);
        // Once, also where what follows has to be tried again: one connection died, not several.
        else if (!isJudged && isConnectionDeath(error)) this.careful.cut(deliveries);
        isJudged = true;
        this.holding.refuse(deliveries, isUncommitted(error));
        this.holding.drop(all);
        await this.holding.take(owned);
        this.holding.leave(all, owned);
        return true;
      } catch {
        await Bun.sleep(pause);
      }
    }
    return true;
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
      this.holding.refuse(refused, true);
      this.holding.drop(lost);
      this.holding.leave(lost, []);
    }
    const again = deliveries.filter((one) => kept.has(one.partition));
    const loaded = withStoredActors(error, again);
    const [only, other] = deliveries;
    if (loaded === null && only !== undefined && other === undefined) this.poison.note(only, batch.joined > 0, error);
    this.again.unshift(...(loaded === null ? halvesOf(again) : [loaded]));
    return true;
  }

  /** Called now and then, so that idle actors leave memory and spent effects the outbox; not all of it waits for idleness. */
  async tick(): Promise<void> {
    await this.careful.relax(this.inbox, this.held);
    await this.waiting.tick(this.held);
    if (this.busySince !== null) return;
    this.cache.sweep();
    await clearCarriedOut(
      this.options.sql,
      [...this.held.values()].filter((held) => !this.aside.concerns(held.partition)),
    );
  }
}

/** Between tries at a database that does not answer, and between batches that fail again and again, ms. */
const [firstPauseMs, longestPauseMs] = [50, 1000];
