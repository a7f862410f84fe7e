/** What the rest of the house may ask of the actor runtime. */
import type { TransactionSql } from "postgres";
import type { ActorDefinition } from "../../actors/kernel/actor.ts";
import type { Json } from "../../actors/kernel/json.ts";
import type { Messages } from "../../actors/kernel/message.ts";

export interface Address {
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
}

/** One entry of an actor's log. `seq` counts from 1 without gaps. */
export interface LogEntry {
  readonly seq: number;
  /** Unix milliseconds of the turn that wrote it. */
  readonly at: number;
  readonly entry: Json;
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
  readonly entries: readonly LogEntry[];
}

export interface StoredActor {
  readonly key: string;
  readonly tenant: string;
  readonly version: number;
  readonly state: Json;
}

/** The callee did not answer in time. It may still act: repeat only what is safe to repeat. */
export class AskTimeout extends Error {
  override readonly name = "AskTimeout";
}
/** The partition's mailbox is at its bound; nothing was accepted. */
export class MailboxFull extends Error {
  override readonly name = "MailboxFull";
  constructor(readonly retryAfterSeconds: number) {
    super("The mailbox is full");
  }
}
/** This node is on its way out, or its stores cannot be reached; nothing was accepted for certain. */
export class RuntimeUnavailable extends Error {
  override readonly name = "RuntimeUnavailable";
}
/** The message could not be handled; it is kept as a dead letter. */
export class MessageRejected extends Error {
  override readonly name = "MessageRejected";
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
  /** Sends the actor a message and waits for its reply. */
  ask(type: string, body: Json, deadlineMs?: number): Promise<Json>;
  /** Sends the actor a message; resolves once it is accepted. */
  tell(type: string, body: Json): Promise<void>;
}

/** The two reasons an activity's signal is aborted with. */
export type AbortReason = "abandoned" | "draining";

export interface ActivityDefinition {
  readonly name: string;
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
  run(input: Json, context: ActivityContext): Promise<Json>;
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
}
export interface Change {
  readonly key: string;
  readonly tenant: string;
  readonly before: Json | null;
  /** Null when the actor ended. */
  readonly after: Json | null;
}
export interface Statement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

export interface DeadLetter {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly type: string;
  readonly body: Json;
  readonly error: string;
  readonly attempts: number;
  readonly created_at: string;
  readonly replayed_at: string | null;
}

/** Gets entries in order. `ended` says that the actor was erased: nothing will follow. */
export type TailListener = (entries: readonly LogEntry[], ended: boolean) => void;

export interface PendingTell {
  readonly to: Address;
  readonly type: string;
  readonly body: Json;
}

export interface RuntimeCounts {
  readonly turns: number;
  readonly commits: number;
  readonly deadLetters: number;
  /** Messages read but not yet turned into turns. */
  readonly backlog: number;
  /** Actors in memory. */
  readonly residents: number;
  readonly activitiesRunning: number;
  readonly activitiesWaiting: number;
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

export interface Runtime {
  /** Accepts a message for an actor: processed even if every node is killed right after. */
  tell(to: Address, type: string, body: Json): Promise<void>;
  /**
   * Sends a message and waits for the actor's reply, wherever it lives.
   * @throws AskTimeout, MailboxFull, RuntimeUnavailable, MessageRejected
   */
  ask(to: Address, type: string, body: Json, deadlineMs?: number): Promise<Json>;
  /**
   * The same for callers to whom the order of their message and earlier ones means nothing: it may overtake what waits
   * in the actor's mailbox, and nothing is accepted before it is answered.
   */
  askDirect(to: Address, type: string, body: Json, deadlineMs?: number): Promise<Json>;
  /**
   * The same for messages that may come twice: what cannot be had directly goes through the mailbox, which waits out a
   * partition that moves or a store that is away.
   */
  askRepeatable(to: Address, type: string, body: Json, deadlineMs?: number): Promise<Json>;
  /**
   * Asks an actor whose key was minted for this very message and is known to nobody else: the runtime
   * does not look for a stored state. Never use it for a key that an earlier attempt may have sent.
   */
  askNew(to: Address, type: string, body: Json, deadlineMs?: number): Promise<Json>;
  /**
   * Sends messages together with somebody else's transaction: they leave if, and only if, it commits.
   * An actor may get one twice after a crash.
   */
  tellWithin(tx: TransactionSql, messages: readonly PendingTell[]): Promise<void>;
  /** The committed state, or null. The tenant must match: foreign is unknown. */
  read(at: Address): Promise<StoredActor | null>;
  /** The committed states of several actors of one kind, in no order; unknown and foreign keys are left out. */
  readMany(kind: string, tenant: string, keys: readonly string[]): Promise<readonly StoredActor[]>;
  /**
   * Of the committed states of several actors the listed members, see `ActorDefinition.listed`; in today's shape.
   * In no order; unknown and foreign keys are left out.
   */
  readListed(
    actor: Pick<AnyActorDefinition, "kind" | "complete">,
    tenant: string,
    keys: readonly string[],
  ): Promise<readonly StoredActor[]>;
  /** How many entries one of an actor's logs has; 0 for an unknown or foreign actor. */
  logLength(at: Address, log: string): Promise<number>;
  /** Committed log entries after `after`, oldest first, at most `limit`. */
  log(at: Address, log: string, after: number, limit: number): Promise<readonly LogEntry[]>;
  /**
   * Where entries of several actors' logs lie, and when they were written: of each actor at most `limit` behind its
   * point, in order. Whose the actors are is for the caller to know.
   */
  logPoints(
    kind: string,
    log: string,
    behind: readonly LogPoint[],
    limit: number,
  ): Promise<readonly (LogPoint & { readonly at: number })[]>;
  /** The entries at these places, in no order; those that are not there are left out. */
  logEntries(kind: string, log: string, points: readonly LogPoint[]): Promise<readonly (LogEntry & LogPoint)[]>;
  /**
   * Follows the `events` log of one actor from entry `after` on: stored entries first, then live ones,
   * in order, none lost, none twice. The listener gets batches; it must not throw.
   * @returns a function that ends it
   */
  tail(at: Address, after: number, listener: TailListener): () => void;
  deadLetters: {
    list(filter: { tenant?: string; kind?: string; limit?: number }): Promise<readonly DeadLetter[]>;
    inspect(id: string): Promise<DeadLetter | null>;
    /** Sends the message again; false when the id is unknown or already replayed. */
    replay(id: string): Promise<boolean>;
  };
  status(): Promise<RuntimeStatus>;
  counts(): RuntimeCounts;
  /** Stops intake, finishes turns in flight, hands partitions and work over. */
  drain(): Promise<void>;
  readonly nodeId: string;
}

/** An actor of whatever state and messages; its handlers are called only with what its own schemas admit. */
export interface AnyActorDefinition extends Omit<ActorDefinition, "receive"> {
  readonly messages: Messages;
  readonly receive: object;
}
