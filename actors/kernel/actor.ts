/**
 * The vocabulary of an actor: a pure state machine that the runtime makes durable.
 *
 * An actor never does anything. It receives a message and answers with a turn: its next state, a reply
 * and a list of effects, all of them data. The runtime commits the turn in one transaction and carries
 * the effects out afterwards, at least once, each under a deterministic id. Nothing in this folder
 * may touch a clock, a random source, the network or the disk: what purity needs comes in by `Context`.
 */
import type { Static, TSchema } from "@sinclair/typebox";

/** Anything JSON can carry. State, messages, replies and events are made of nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Where a deferred reply goes: kept in the state until a later turn answers it with a `reply` effect. */
export interface ReplyTo {
  /** The node whose caller waits. */
  readonly node: string;
  /** The waiting call on that node. */
  readonly call: string;
  /** Unix milliseconds after which nobody waits any more. */
  readonly until: number;
}

/** What a handler may know besides its state and its message. */
export interface Context {
  /** Unix milliseconds at which the turn runs. */
  readonly now: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** Id of the message under way; the same on redelivery. */
  readonly messageId: string;
  /** Set when somebody waits for the answer of this message. */
  readonly replyTo: ReplyTo | null;
  /** A fresh UUIDv7. */
  newId(): string;
  /**
   * A fresh UUIDv7 for an actor of `kind` that lives beside this one: what the two tell each other `together` is
   * handled in one commit.
   */
  newIdBeside(kind: string): string;
}

/** One message to an actor. `body` must fit the schema the receiving kind declares for `type`. */
export interface Message {
  readonly type: string;
  readonly body: Json;
}

export type Effect =
  /**
   * Send a message to another actor of the same tenant. `together`: where the receiver lives beside this actor
   * (`newIdBeside`), its turn is part of the same commit, and it runs before any message that comes later; should
   * that turn fail, or should the two live apart, it is sent like any other. Use one way or the other between
   * two actors: the two keep no order among each other.
   */
  | {
      readonly effect: "tell";
      readonly kind: string;
      readonly key: string;
      readonly message: Message;
      readonly together?: true;
    }
  /**
   * Append an entry to one of the actor's own logs. `log` defaults to `events`, the one that live
   * tails follow; entries of a log are numbered from 1 without gaps.
   */
  | { readonly effect: "emit"; readonly log?: string; readonly entry: Json }
  /**
   * Wake this actor with `message` at `at` (Unix ms). The name identifies the timer for `cancel`;
   * scheduling a name that is already waiting does nothing. A fired timer is only a message: the actor
   * decides whether it still matters.
   */
  | { readonly effect: "schedule"; readonly timer: string; readonly at: number; readonly message: Message }
  | { readonly effect: "cancel"; readonly timer: string }
  /** Put a job on a BullMQ queue of the job catalogue. `id` makes it unique in that queue. */
  | { readonly effect: "enqueue"; readonly queue: string; readonly id: string; readonly data: Json }
  /**
   * Do slow or outside work. The outcome comes back as a message of type `then` whose body is an
   * `Outcome`. `id` is unique per piece of work and reaches the outside as its idempotency key.
   */
  | {
      readonly effect: "perform";
      readonly activity: string;
      readonly id: string;
      readonly input: Json;
      readonly then: string;
    }
  /** The outcome of a piece of work is no longer wanted: stop it, and let it clean up after itself. */
  | { readonly effect: "abandon"; readonly id: string }
  /** Answer a caller whose message an earlier turn left unanswered. */
  | { readonly effect: "reply"; readonly to: ReplyTo; readonly value: Json };

/** What became of a piece of work. `code` is stable; `terminal` failures are not worth a repeat. */
export type Outcome =
  | { readonly id: string; readonly ok: true; readonly value: Json }
  | {
      readonly id: string;
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly details?: Json;
    };

/** The answer to one message. A `state` of null ends the actor: its row and its logs are erased. */
export interface Turn<State> {
  readonly state: State | null;
  /** Answers the caller now; leave it out to answer later (see `ReplyTo`) or never. */
  readonly reply?: Json;
  readonly effects: readonly Effect[];
}

export type Messages = { readonly [type: string]: TSchema };

export type Receive<State, M extends Messages> = {
  readonly [Type in keyof M]: (state: State | null, body: Static<M[Type]>, context: Context) => Turn<State>;
};

export interface ActorDefinition<S extends TSchema = TSchema, M extends Messages = Messages> {
  readonly kind: string;
  /** Checked whenever a state is loaded from the store. */
  readonly state: S;
  /** A state that an earlier version stored, in today's shape; absent: there was never another. */
  readonly complete?: (stored: Json) => Json;
  /** Checked before a message is handed to its handler. */
  readonly messages: M;
  readonly receive: Receive<Static<S>, M>;
}

/** Declares an actor kind; the handlers' types follow from the schemas. */
export function defineActor<S extends TSchema, M extends Messages>(
  definition: ActorDefinition<S, M>,
): ActorDefinition<S, M> {
  return definition;
}
