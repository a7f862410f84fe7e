/** One turn: what a handler may know, what it answers, and how it puts its answer together. */
import type { Static, TSchema } from "@sinclair/typebox";
import type { ActivityDefinition, InputOf, Outcome } from "./activity.ts";
import {
  abandon,
  cancel,
  type Effect,
  emit,
  type FactDefinition,
  fact,
  type LogDefinition,
  perform,
  reply,
  schedule,
  type TellOptions,
  tell,
} from "./effect.ts";
import type { AcceptingTypeOf, AskedTypeOf, BodyOf, Messages, Protocol, ReplyOf, ReplyTo, TypeOf } from "./message.ts";

/** What a handler may know besides its state and its message. */
export interface Context {
  /** Unix milliseconds at which the turn runs. */
  readonly now: number;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** Id of the message under way; the same on redelivery. */
  readonly messageId: string;
  /** Set when a caller waits for the answer of this message. */
  readonly replyTo: ReplyTo | null;
  /** A fresh UUIDv7. */
  newId(): string;
  /**
   * A fresh UUIDv7 for an actor of this protocol that lives beside this one: what the two tell each other with
   * `coCommit` is handled in one commit.
   */
  newIdBeside(protocol: Pick<Protocol, "kind">): string;
}

/** The answer to one message. A `state` of null ends the actor: its row and its logs are erased. */
export interface Turn<State, Reply = never, M extends Messages = Messages> {
  readonly state: State | null;
  /** Answers the caller now; leave it out to answer later (see `ReplyTo`) or never. */
  readonly reply?: Reply;
  readonly effects: readonly Effect<M>[];
}

/** Collects the effects of one turn of an actor with these messages. */
export class TurnEffects<M extends Messages> {
  protected effects: Effect<M>[] = [];

  constructor(
    private readonly protocol: Protocol<M>,
    readonly context: Context,
  ) {}

  push(...effects: readonly Effect<M>[]): void {
    this.effects.push(...effects);
  }
  /** See `tell` of effect.ts. */
  tell<N extends Messages, T extends TypeOf<N>>(
    to: Protocol<N>,
    key: string,
    type: T,
    body: BodyOf<N[T]>,
    options?: TellOptions,
  ): void {
    this.effects.push(tell(to, key, type, body, options));
  }
  /** Appends to a log of the actor. */
  append<Entry extends TSchema>(log: LogDefinition<Entry>, entry: Static<Entry>): void {
    this.effects.push(emit(log, entry));
  }
  /** See `fact` of effect.ts. */
  fact<Fact extends TSchema>(definition: FactDefinition<Fact>, value: Static<Fact>): void {
    this.effects.push(fact(definition, value));
  }
  /** See `perform` of effect.ts. */
  perform<A extends ActivityDefinition>(
    activity: A,
    input: InputOf<A>,
    work: { readonly id: string; readonly then: AcceptingTypeOf<M, Outcome<A>> },
  ): void {
    this.effects.push(perform(activity, input, work) as Effect<M>);
  }
  abandon(id: string): void {
    this.effects.push(abandon(id));
  }
  /** See `schedule` of effect.ts. */
  schedule<T extends TypeOf<M>>(timer: string, at: number, type: T, body: BodyOf<M[T]>): void {
    this.effects.push(schedule(timer, at, type, body) as Effect<M>);
  }
  cancelTimer(timer: string): void {
    this.effects.push(cancel(timer));
  }
  /** Answers a caller whose message of this type an earlier turn left unanswered. */
  reply<T extends AskedTypeOf<M>>(type: T, to: ReplyTo, value: ReplyOf<M[T]>): void {
    this.effects.push(reply(this.protocol.messages[type] as M[T], to, value));
  }
}
