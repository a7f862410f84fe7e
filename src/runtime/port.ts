/** What the rest of the service may ask of the actor runtime. */
import type { Static } from "@sinclair/typebox";
import type { ActivityDefinition, InputOf, OutputOf } from "../../actors/kernel/activity.ts";
import type { AnyActorDefinition } from "../../actors/kernel/actor.ts";
import type { LogDefinition } from "../../actors/kernel/effect.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { AskedTypeOf, BodyOf, Messages, Protocol, ReplyOf, TypeOf } from "../../actors/kernel/message.ts";
import type { Transaction } from "../store/postgres/pool.ts";
import type { DeadLetter, DeadLetterFilter, DeadLetterLine, DeadLetterPlace } from "./dead-letters/letter.ts";

export type { DeadLetterLine } from "./dead-letters/letter.ts";

export { AskTimeout, isServiceAway, MailboxFull, MessageRejected, RuntimeUnavailable } from "./failures.ts";

export interface Address {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** Of the actor's protocol as the sender knows it; absent: the first. */
  readonly version?: number;
}

/** One entry of an actor's log. `seq` counts from 1 without gaps. */
export interface LogEntry<Entry = Json> {
  readonly seq: number;
  /** Unix milliseconds of the turn that wrote it. */
  readonly at: number;
  readonly entry: Entry;
}

/** A place in the log of one of several actors. */
export interface LogPoint {
  readonly key: string;
  readonly seq: number;
}

/** What commits add to the logs that live tails follow. */
export interface News {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly entries: readonly LogEntry[];
}

export interface StoredActor {
  readonly key: string;
  readonly tenant: string;
  readonly version: number;
  /** The version of the definition that wrote the state. */
  readonly format: number;
  readonly state: Json;
}

/** Thrown by an activity: repeating cannot help. The actor gets the failure with this code. */
export class Terminal extends Error {
  override readonly name = "Terminal";
  constructor(
    readonly code: string,
    message: string,
    readonly details?: Json,
  ) {
    super(message);
  }
}
/** Thrown by an activity: worth a repeat, not before `afterMs`. Any other error is repeated with backoff. */
export class Retryable extends Error {
  override readonly name = "Retryable";
  constructor(
    message: string,
    readonly afterMs: number | null = null,
  ) {
    super(message);
  }
}

export interface ActivityContext {
  /** The same on every attempt; use it as the idempotency key towards the outside. */
  readonly id: string;
  readonly actor: Address;
  /** Counts from 1. */
  readonly attempt: number;
  /** True when an earlier attempt may have been under way on a node that died. */
  readonly resumed: boolean;
  /** True when that was on another machine: what the attempt left there, if it ran at all, is out of reach. */
  readonly moved: boolean;
  /**
   * Aborted with `abandoned` when the actor gave the work up (clean up, then return), or with
   * `draining` when this node leaves (leave outside work as it is; another node resumes it).
   */
  readonly signal: AbortSignal;
  /**
   * Has something done when the actor has taken in the outcome of this attempt and that is committed: what a repeat would
   * need can go then. Never called where this node dies or leaves before, or another one has taken the work over.
   */
  onceTaken(act: () => void): void;
  readonly slot: ActivitySlot;
  /**
   * Messages to the actor that asked for the work, which is of this protocol. What it is asked may come twice: an
   * earlier attempt may have asked it already.
   */
  of<M extends Messages>(protocol: Protocol<M>): Correspondence<M>;
}

/** The slot that an activity runs in, for work that stands still for long. */
export interface ActivitySlot {
  /** Other work may have it from now on. Repeatable. */
  giveBack(): void;
  /**
   * Resolves once the work has a slot again, in its tenant's turn.
   * @throws the reason of the activity's signal
   */
  takeAgain(): Promise<void>;
}

/** The two reasons an activity's signal is aborted with. */
export type AbortReason = "abandoned" | "draining";

export interface ActivityOptions {
  /** How many run at once on one node; waiting ones are taken in turn by tenant. */
  readonly concurrency: number;
  /** Waiting longer than this for a free slot fails the work with code `queue_timeout`. Never when absent. */
  readonly queueTimeoutMs?: number;
  /** Attempts for failures other than `Terminal`, and the pause before the second; it doubles up to a minute. */
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number };
  /**
   * True for work bound to the machine it began on (a running sandbox): after a crash only a node of
   * the same host resumes it, unless that host stays away for `orphanAfterMs`.
   */
  readonly hostBound?: boolean;
  /**
   * True for work that sends no messages besides its outcome, and may be done again: its outcome is handed over in memory
   * where its actor is on the same node. Should the node die before that is committed, the work is done again.
   */
  readonly atHand?: boolean;
}

/** An activity that a node runs; made by `implement`. */
export interface Activity extends ActivityOptions {
  readonly definition: ActivityDefinition;
  run(input: Json, context: ActivityContext): Promise<Json>;
}

/**
 * The doing of an activity that is declared in `actors/`. The runtime checks the stored input before `run` gets it.
 */
export function implement<A extends ActivityDefinition>(
  definition: A,
  options: ActivityOptions,
  run: (input: InputOf<A>, context: ActivityContext) => Promise<OutputOf<A>>,
): Activity {
  // What fits the two schemas is JSON, and the runtime hands over only what it checked.
  return { definition, ...options, run: run as Activity["run"] };
}

/** Rows that a feature derives from its actors' states, written in the transaction of the turn. */
export interface Projection {
  readonly kind: string;
  /**
   * Called once per commit with every changed actor of the kind.
   * @returns INSERT, UPDATE or DELETE statements with positional parameters; they become parts of the one
   *   statement that commits the turn, so they do not see each other's rows and must not start with WITH
   */
  project(changes: readonly Change[]): readonly Statement[];
  /** Told of the same changes once they are committed; a hint, since a crash may come between. Must not throw. */
  committed?(changes: readonly Change[]): void;
}
/** Something that a turn put on record (`fact` in actors/kernel/effect.ts). */
export interface Fact {
  readonly tenant: string;
  /** Unix milliseconds of the turn. */
  readonly at: number;
  /** As the definition of its name has it. */
  readonly fact: Json;
}

/** Writes the facts of one name, in the transaction of the turns that state them. */
export interface FactWriter {
  readonly name: string;
  /** Called once per commit that has facts of this name; the statements are as those of a projection. */
  write(facts: readonly Fact[]): readonly Statement[];
}

/** What a commit makes of one actor. */
export interface ActorChange<State> {
  readonly key: string;
  readonly tenant: string;
  /** Null for a new actor. */
  readonly before: State | null;
  /** Null when the actor ended. */
  readonly after: State | null;
  /** Grows with each commit that changes the actor. */
  readonly version: number;
}
export type Change = ActorChange<Json>;
/** Declares the projection of an actor: what it gets are states of the actor's own type. */
export function defineProjection<D extends AnyActorDefinition>(
  { kind }: D,
  project: (changes: readonly ActorChange<StateOf<D>>[]) => readonly Statement[],
  committed: (changes: readonly ActorChange<StateOf<D>>[]) => void = () => {},
): Projection {
  // Both states were checked against the definition's schema before the turn ran.
  return {
    kind,
    project: project as Projection["project"],
    committed: committed as NonNullable<Projection["committed"]>,
  };
}

export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** Gets entries in order. `ended` says that the actor was erased: nothing will follow. */
export type TailListener = (entries: readonly LogEntry[], ended: boolean) => void;

export interface RuntimeCounts {
  readonly turns: number;
  readonly commits: number;
  readonly deadLetters: number;
  /** Messages read but not yet turned into turns. */
  readonly backlog: number;
  /** Characters of them. */
  readonly backlogBytes: number;
  /** Actors in memory. */
  readonly cachedActors: number;
  /** Characters of their states, as they are stored. */
  readonly cachedBytes: number;
  /** Questions and told messages of this node whose end is not known yet. */
  readonly calls: number;
  /** Timers that are due soon. */
  readonly timers: number;
  readonly activitiesRunning: number;
  readonly activitiesWaiting: number;
  /** Characters of their inputs. */
  readonly activitiesWaitingBytes: number;
  readonly tails: number;
}

export interface RuntimeStatus {
  readonly database: boolean;
  readonly redis: boolean;
  /** Partitions this node holds. */
  readonly partitions: number;
  /** Every partition is held by a live node, and this node's mailboxes are being consumed. */
  readonly consuming: boolean;
  readonly draining: boolean;
}

export type StateOf<D extends AnyActorDefinition> = Static<D["state"]>;
/** The members of the state that are stored for lists; see `ActorDefinition.listed`. */
export type ListedOf<D extends AnyActorDefinition> = Pick<
  StateOf<D>,
  NonNullable<D["listed"]>[number] & keyof StateOf<D>
>;

export interface AskOptions {
  /**
   * The key was minted for this very message and no other caller knows it: the runtime does not look for a stored
   * state. Never for a key that an earlier attempt may have sent.
   */
  readonly fresh?: boolean;
  /**
   * The order of this message and earlier ones means nothing to the caller: it may overtake what waits in the actor's
   * mailbox, and nothing is accepted before it is answered.
   */
  readonly unordered?: boolean;
  /**
   * The message may come twice: sent like an unordered one, and where that is refused through the mailbox, which waits
   * out a partition that moves or a store that is away.
   */
  readonly repeatable?: boolean;
  /** How long the caller waits; 30,000 ms when left out. */
  readonly deadlineMs?: number;
  /** Aborted when the caller waits no more: the message is not sent again then, and the call rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Messages to one actor of these. */
export interface Correspondence<M extends Messages> {
  readonly address: Address;
  /**
   * Sends a message and waits for the actor's reply; the actor may live on any node.
   * @throws AskTimeout, MailboxFull, RuntimeUnavailable, MessageRejected
   */
  ask<T extends AskedTypeOf<M>>(type: T, body: BodyOf<M[T]>, options?: AskOptions): Promise<ReplyOf<M[T]>>;
  /** Accepts a message for the actor: processed even if every node is killed right after. */
  tell<T extends TypeOf<M>>(type: T, body: BodyOf<M[T]>): Promise<void>;
}

export interface ActorHandle<D extends AnyActorDefinition> extends Correspondence<D["messages"]> {
  /**
   * Accepts a message for the actor as `tell` does, and resolves when a commit has taken it: nothing depends on Redis or
   * on this node from then on. The message may come twice.
   * @throws AskTimeout, MailboxFull, RuntimeUnavailable
   */
  tellCommitted<T extends TypeOf<D["messages"]>>(type: T, body: BodyOf<D["messages"][T]>): Promise<void>;
  /**
   * The committed state in today's shape, or null. The tenant must match: foreign is unknown.
   * @throws Error when what is stored fits no version's shape
   */
  read(): Promise<StateOf<D> | null>;
  /** Committed entries of one of its logs after `after`, oldest first, at most `limit`, however large they are. */
  log<L extends LogDefinition>(log: L, after: number, limit: number): Promise<readonly LogEntry<Static<L["entry"]>>[]>;
  /**
   * All committed entries after `after`, oldest first, in pages of at most `rows` entries and about 8 MiB; one page at
   * least, which may be empty.
   */
  logPages<L extends LogDefinition>(
    log: L,
    after: number,
    rows: number,
  ): AsyncGenerator<readonly LogEntry<Static<L["entry"]>>[]>;
  /** How many entries one of its logs has; 0 for an unknown or foreign actor. */
  logLength(log: LogDefinition): Promise<number>;
  /**
   * Follows the log `events` from entry `after` on: stored entries first, then live ones, in order, none lost, none
   * twice. The listener gets batches; it must not throw.
   * @returns a function that ends it
   */
  tail(after: number, listener: TailListener): () => void;
}

/** All actors of a kind. */
export interface Actors<D extends AnyActorDefinition> {
  at(tenant: string, key: string): ActorHandle<D>;
  /**
   * A new id (a UUIDv7) for an actor of the kind that this node would own, where it owns partitions: what is asked of it
   * here then needs no mailbox and no way to another node.
   */
  newId(): string;
  /** Whether this node owns the actor's partition now: work that any node may do is shared so. */
  isHere(key: string): boolean;
  /** The committed states of several actors in today's shape, by key; unknown and foreign keys are left out. */
  readMany(tenant: string, keys: readonly string[]): Promise<ReadonlyMap<string, StateOf<D>>>;
  /** The same with the listed members of each state, which are stored apart: cheaper where states are large. */
  readListed(tenant: string, keys: readonly string[]): Promise<ReadonlyMap<string, ListedOf<D>>>;
  /**
   * Where entries of several actors' logs lie, and when they were written: of each actor at most `limit` behind its
   * point, in order. Whose the actors are is for the caller to know.
   */
  logPoints(
    log: LogDefinition,
    behind: readonly LogPoint[],
    limit: number,
  ): Promise<readonly (LogPoint & { readonly at: number })[]>;
  /** The entries at these places, in no order; those that are not there are left out. */
  logEntries<L extends LogDefinition>(
    log: L,
    points: readonly LogPoint[],
  ): Promise<readonly (LogEntry<Static<L["entry"]>> & LogPoint)[]>;
  /**
   * Erases logs of actors that read and write them no more, all but these. Whose the actors are is for the caller to
   * know.
   */
  eraseLogs(keys: readonly string[], except: readonly LogDefinition[]): Promise<void>;
}

export interface Runtime {
  /** The actors of a definition. A handle is a cheap object: made where it is used, not kept. */
  of<D extends AnyActorDefinition>(definition: D): Actors<D>;
  deadLetters: {
    list(filter: { tenant?: string; kind?: string; limit?: number }): Promise<readonly DeadLetter[]>;
    inspect(id: string): Promise<DeadLetter | null>;
    /** A part of them without their bodies, newest first. */
    page(
      filter: DeadLetterFilter,
      page: { readonly after: DeadLetterPlace | null; readonly offset: number; readonly limit: number },
    ): Promise<readonly (DeadLetterLine & { readonly place: DeadLetterPlace })[]>;
    /**
     * Sends the message again; false when the id is unknown or already replayed.
     * @param replayed called in the transaction that marks the letter
     */
    replay(id: string, replayed?: (tx: Transaction, letter: DeadLetter) => Promise<void>): Promise<boolean>;
  };
  status(): Promise<RuntimeStatus>;
  /** Whether Redis answers within a second, however long the database takes. */
  redisAnswers(): Promise<boolean>;
  counts(): RuntimeCounts;
  /** Messages and effects of all nodes that wait for a node of a version that knows them. */
  waitingForVersion(): Promise<number>;
  /** Nodes of the last day that have said nothing for so long, ms, and did not leave; what each had under way is over. */
  silentNodes(forMs: number): Promise<readonly { readonly id: string; readonly lastSeenAt: Date }[]>;
  /** Nodes that live, this one among them: not those whose process is seen to have ended, nor those that are silent for long. */
  liveNodes(): Promise<readonly string[]>;
  /**
   * Erases what is kept of a tenant beside its actors, which their features erase before. Repeatable.
   * @returns whether nothing of the tenant is left here
   */
  eraseTenant(tenant: string): Promise<boolean>;
  /** Stops intake, finishes turns in flight, hands partitions and work over. */
  drain(): Promise<void>;
  readonly nodeId: string;
}
