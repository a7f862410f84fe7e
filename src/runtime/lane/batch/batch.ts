/**
 * What one batch of messages amounts to: filled turn by turn, handed to the journal as a commit, and
 * afterwards the list of what is left to do outside.
 */
import type { Effect } from "../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import type { ReplyTo } from "../../../../actors/kernel/message.ts";
import { type OutboxRow, remoteAnswer, toOutbox } from "../../effects/outbox.ts";
import type { Answer, LocalReply } from "../../mailbox/calls.ts";
import { type Envelope, messageId } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";
import { partitionOf } from "../../mailbox/partition.ts";
import type { Change, Fact, FactWriter, Projection, Statement } from "../../port.ts";
import { partsOfState } from "../../reads/listed.ts";
import type { TailNews } from "../../reads/notices.ts";
import { encodeTimers, TimerChanges, type TimerRequest, type TimerRow } from "../../timers/timer.ts";
import type { ActivityRow } from "../commit/activities.ts";
import type { Commit } from "../commit/commit.ts";
import type { DeadLetterRow } from "../commit/dead-letters.ts";
import { type PartitionProgress, timelineOf } from "../commit/progress.ts";
import { Exchange } from "../exchange/exchange.ts";
import type { Held } from "../exchange/held.ts";
import type { CachedActor, TurnResult, Turns } from "../turn.ts";
import { type CoCommitMessage, noCoCommits } from "./co-commit-message.ts";
import { LargeTexts } from "./large-texts.ts";
import { LogEntries } from "./log-entries.ts";
import { SetAside } from "./set-aside.ts";

/** Of a state, in which large texts are looked for. */
const levels = 2;

export class Batch {
  readonly outbox: OutboxRow[] = [];
  readonly activities: ActivityRow[] = [];
  readonly abandoned: string[] = [];
  readonly settled: string[] = [];
  readonly replies: LocalReply[] = [];
  readonly timers = new TimerChanges();
  /** Senders on other nodes that want to know that their message is taken. */
  readonly acknowledged: ReplyTo[] = [];
  readonly touched = new Set<Held>();
  /** What its partitions take of others, and send to them. */
  readonly exchange = new Exchange();
  /** Those whose mailbox moved on. */
  readonly advanced = new Set<Held>();
  /** Up to where the commit deletes outbox rows; what is carried out while it is written is not among them. */
  readonly clearing = new Map<Held, number>();
  turns = 0;
  /** Turns begun in the commit of their sender. */
  joined = 0;
  /** The actors with a turn in this batch, as they were before the first. */
  private readonly before = new Map<CachedActor, Json>();
  /** The actors with a turn in this batch; their sizes are known once the commit is made. */
  get actors(): IteratorObject<CachedActor> {
    return this.before.keys();
  }
  /** Of its entries and states, which may hold the same ones. */
  private readonly large = new LargeTexts();
  private readonly entries = new LogEntries(this.large);
  /** New log entries, by actor. */
  get news(): ReadonlyMap<string, TailNews> {
    return this.entries.news;
  }
  private readonly facts = new Map<string, Fact[]>();
  private readonly ended = new Map<string, { kind: string; key: string }>();
  private readonly deadLetters: DeadLetterRow[] = [];
  readonly setAside = new SetAside();
  /** What each projection was given for the commit. */
  projected: readonly (readonly [Projection, readonly Change[]])[] = [];

  constructor(
    private readonly node: string,
    private readonly clock: { now(): number; newId(): string },
    private readonly isHostBound: (activity: string, version?: number) => boolean | null,
    private readonly partitions: number,
    /** Whether messages of a partition wait for a node that knows them. */
    private readonly mayWait: (partition: number) => boolean = () => false,
  ) {}

  /** Marks the entry as taken, and says whether it is to be run: a repeat changes nothing. */
  take(held: Held, delivery: Delivery): boolean {
    this.touched.add(held);
    const { envelope, id } = delivery;
    const isNew = this.exchange.take(held, id, envelope);
    if (envelope === null) return true;
    const { acknowledge } = envelope;
    if (acknowledge?.node === this.node) this.replies.push({ call: acknowledge.call, answer: { value: null } });
    else if (acknowledge !== undefined) this.acknowledged.push(acknowledge);
    return isNew;
  }

  /** Nothing of the batch was committed: its partitions are as they were, but for what their rows hold. */
  undo(): void {
    this.exchange.undo(this.touched);
  }

  /**
   * Whether the actor still waits for this outcome. Work that was given up is over once its outcome is
   * here; work that is no longer known had its outcome taken in from another attempt.
   * @param live the activities under way, and whether they are wanted
   */
  awaits(activity: string, live: ReadonlyMap<string, boolean>): boolean {
    const wanted = live.get(activity);
    if (wanted === undefined || this.settled.includes(activity)) return false;
    const givenUp = this.abandoned.indexOf(activity);
    if (wanted && givenUp < 0) return true;
    if (givenUp >= 0) this.abandoned.splice(givenUp, 1);
    this.settled.push(activity);
    return false;
  }

  /** Runs a message through its actor, in memory. A turn that fails leaves everything as it was. */
  run(turns: Turns, actor: CachedActor, envelope: Envelope): TurnResult {
    const fault = this.takeIn(turns, actor);
    if (fault !== null) return fault;
    const before = actor.state;
    const result = turns.run(actor, envelope);
    if (result.result === "done" && !this.before.has(actor)) this.before.set(actor, before);
    return result;
  }

  /** Brings a state that was just loaded into today's shape. @returns why it cannot be taken, or null */
  private takeIn(turns: Turns, actor: CachedActor): ReturnType<Turns["takeIn"]> {
    const fault = actor.usedAt === 0 && actor.state !== null ? turns.takeIn(actor) : null;
    if (fault === null) actor.usedAt = this.clock.now();
    return fault;
  }

  /**
   * Takes in a turn that went well.
   * @returns its messages to be co-committed: to be run in this batch or handed to `send`
   */
  done(
    held: Held,
    actor: CachedActor,
    envelope: Envelope,
    turn: Extract<TurnResult, { result: "done" }>,
  ): readonly CoCommitMessage[] {
    this.turns++;
    if (envelope.activity !== null) this.settled.push(envelope.activity);
    let told: CoCommitMessage[] | null = null;
    for (const effect of turn.effects) {
      if (effect.effect !== "tell" || effect.coCommit !== true) this.effect(held, actor, effect);
      else {
        const { kind, key } = effect;
        const wire = toOutbox(effect, actor) as string;
        told ??= [];
        told.push({ kind, key, tenant: actor.tenant, fresh: turn.made.has(`${kind}/${key}`), wire });
      }
    }
    if (turn.reply !== undefined) this.answer(held, envelope, { value: turn.reply });
    if (actor.state === null) this.end(actor);
    return told ?? noCoCommits;
  }

  /**
   * A timer has come to its turn: its row goes with this commit.
   * @param actor absent where no turn is run for it
   * @returns whether the actor still waits for it
   */
  fired(held: Held, row: TimerRow, actor?: CachedActor): boolean {
    this.touched.add(held);
    return this.timers.fired(actor, row);
  }

  /**
   * Sets timers of an actor without a turn, and answers the caller: these, or those that its state asks for. An actor
   * that is no more has none.
   */
  rearm(
    turns: Turns,
    held: Held,
    actor: CachedActor,
    envelope: Envelope,
    wanted: NonNullable<Delivery["rearm"]>,
  ): void {
    this.touched.add(held);
    this.answer(held, envelope, { value: null });
    if (actor.state === null || actor.tenant !== envelope.tenant || this.takeIn(turns, actor) !== null) return;
    const requests = wanted === "as stated" ? turns.statedTimers(actor) : wanted;
    if (requests.length === 0) return;
    if (!this.before.has(actor)) this.before.set(actor, actor.state);
    for (const request of requests) this.schedule(held, actor, request);
  }

  private schedule(held: Held, actor: CachedActor, request: TimerRequest): void {
    this.timers.schedule(actor, request, this.clock.now(), () => ++held.outboxSequence);
  }

  /** Sends a message that was to be co-committed through the outbox, like any other. */
  sendOut(held: Held, { kind, key, wire }: CoCommitMessage): void {
    this.tell(held, kind, key, wire);
  }

  /** An effect that the partition of the receiver takes. */
  private tell(held: Held, kind: string, key: string, effect: string): void {
    const target = partitionOf(kind, key, this.partitions);
    const seq = ++held.outboxSequence;
    const after = this.exchange.follow(held, target, seq);
    this.outbox.push({ partition: held.partition, seq, effect, target, after });
  }

  /** An effect that this node carries out itself. */
  private carryOut(held: Held, effect: string): void {
    this.outbox.push({ partition: held.partition, seq: ++held.outboxSequence, effect, target: null, after: 0 });
  }

  /** The sender is told that there is no such actor; nothing else happens. */
  foreign(held: Held, envelope: Envelope): void {
    this.answer(held, envelope, { rejected: "no such actor" });
  }

  deadLetter(held: Held, delivery: Delivery, error: string, attempts: number): void {
    const { envelope } = delivery;
    this.deadLetters.push({
      id: this.clock.newId(),
      partition: held.partition,
      kind: envelope?.kind ?? "",
      key: envelope?.key ?? "",
      tenant: envelope?.tenant ?? "",
      messageId: envelope === null ? String(delivery.id) : messageId(envelope),
      type: envelope?.type ?? "",
      body: JSON.stringify(envelope === null ? delivery.raw : envelope.body),
      error: error.replaceAll("\0", "").slice(0, 4000),
      attempts,
    });
    if (envelope === null) return;
    // The work is over for the runtime: repeating it would only fail here again.
    if (envelope.activity !== null) this.settled.push(envelope.activity);
    this.answer(held, envelope, { rejected: error });
  }

  get deadLetterCount(): number {
    return this.deadLetters.length;
  }

  /** @param listedOf names of the members of a kind's states that are stored apart, for lists */
  toCommit(
    projections: ReadonlyMap<string, Projection>,
    listedOf: (kind: string) => ReadonlySet<string> | undefined = () => undefined,
    factWriters: ReadonlyMap<string, FactWriter> = new Map(),
  ): Commit {
    const actors = [];
    const changes: (Change & { readonly kind: string })[] = [];
    for (const [actor, before] of this.before) {
      const { kind, key, tenant, partition } = actor;
      if (before === null && actor.state === null) continue;
      if (actor.state !== null) {
        actor.version++;
        const { listed, rest } = partsOfState(actor.state, listedOf(kind));
        const { text, size } = this.large.write(rest, levels);
        actor.size = size + (listed?.length ?? 0);
        actors.push({
          kind,
          key,
          tenant,
          partition,
          isNew: before === null || (this.ended.size > 0 && this.ended.has(`${kind}/${key}`)),
          version: actor.version,
          logs: JSON.stringify(actor.logs),
          timers: encodeTimers(actor.timers),
          format: actor.format,
          listed,
          state: text,
        });
      }
      if (projections.has(kind)) {
        const version = actor.state === null ? actor.version + 1 : actor.version;
        changes.push({ kind, key, tenant, before, after: actor.state, version });
      }
    }
    const statements: Statement[] = [];
    // In one order everywhere: commits of two nodes that share rows (counters) must not wait for each other in a circle.
    const ordered = [...Map.groupBy(changes, ({ kind }) => kind)].sort(([a], [b]) => (a < b ? -1 : 1));
    this.projected = ordered.map(([kind, list]) => [projections.get(kind) as Projection, list]);
    for (const [projection, list] of this.projected) statements.push(...projection.project(list));
    for (const [name, facts] of this.facts) statements.push(...(factWriters.get(name) as FactWriter).write(facts));
    return {
      partitions: [...this.touched].map((held) => this.progress(held)),
      actors,
      ended: [...this.ended.values()],
      logs: this.entries.rows,
      largeTexts: this.large.texts,
      outbox: this.outbox,
      ...this.exchange.rows(),
      activities: this.activities,
      settled: this.settled,
      abandoned: this.abandoned,
      deadLetters: this.deadLetters,
      timers: this.timers.set,
      endedTimers: this.timers.gone,
      parked: this.setAside.rows,
      unparked: this.setAside.taken,
      projections: statements,
    };
  }

  private progress(held: Held): PartitionProgress {
    const position = held.arrivals.position(held.mailboxOffset);
    if (position !== held.mailboxOffset) this.advanced.add(held);
    held.mailboxOffset = position;
    return {
      partition: held.partition,
      epoch: held.epoch,
      mailboxOffset: held.mailboxOffset,
      timeline: timelineOf(held.incarnation),
      outboxSequence: held.outboxSequence,
      published: this.cleared(held),
    };
  }

  private cleared(held: Held): number {
    if (held.published <= held.cleared) return 0;
    this.clearing.set(held, held.published);
    return held.published;
  }

  private effect(held: Held, actor: CachedActor, effect: Effect): void {
    switch (effect.effect) {
      case "emit":
        this.entries.emit(actor, effect.log, this.clock.now(), effect.entry);
        return;
      case "fact": {
        const facts = this.facts.get(effect.name) ?? [];
        if (facts.length === 0) this.facts.set(effect.name, facts);
        facts.push({ tenant: actor.tenant, at: this.clock.now(), fact: effect.fact });
        return;
      }
      case "perform":
        this.activities.push({
          id: effect.id,
          kind: actor.kind,
          key: actor.key,
          tenant: actor.tenant,
          name: effect.activity,
          input: JSON.stringify(effect.input),
          replyType: effect.then,
          format: effect.version,
          hostBound: this.isHostBound(effect.activity, effect.version) === true,
          isKnown: this.isHostBound(effect.activity, effect.version) !== null,
        });
        return;
      case "abandon":
        this.abandon(effect.id);
        if (this.mayWait(held.partition)) this.setAside.giveUp(effect.id);
        return;
      case "schedule": {
        const { timer, at, message } = effect;
        this.schedule(held, actor, { timer, at, type: message.type, body: JSON.stringify(message.body) });
        return;
      }
      case "cancel":
        this.timers.cancel(actor, effect.timer);
        return;
      case "reply":
        if (effect.to.node === this.node) {
          this.replies.push({ call: effect.to.call, answer: { value: effect.value } });
          return;
        }
        if (effect.to.until < this.clock.now()) return;
    }
    const row = toOutbox(effect, actor);
    if (row === null) return;
    if (effect.effect === "tell") this.tell(held, effect.kind, effect.key, row);
    else this.carryOut(held, row);
  }

  /**
   * Work asked for in this very batch is not even begun. Work whose outcome this batch takes in is over: its row goes,
   * and one statement does only one thing with a row.
   */
  private abandon(id: string): void {
    if (this.settled.includes(id)) return;
    const index = this.activities.findIndex((row) => row.id === id);
    if (index < 0) this.abandoned.push(id);
    else this.activities.splice(index, 1);
  }

  private end(actor: CachedActor): void {
    const { kind, key } = actor;
    this.entries.end(actor);
    this.timers.cancelAll(actor);
    this.ended.set(`${kind}/${key}`, { kind, key });
  }

  private answer(held: Held, envelope: Envelope, answer: Answer): void {
    if (envelope.replyTo !== null) this.send(held, envelope.replyTo, answer);
  }

  private send(held: Held, to: ReplyTo, answer: Answer): void {
    if (to.node === this.node) this.replies.push({ call: to.call, answer });
    else if (to.until >= this.clock.now()) this.carryOut(held, remoteAnswer(to.node, to.call, answer));
  }
}
