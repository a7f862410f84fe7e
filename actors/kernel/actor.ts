/**
 * An actor: a pure state machine that the runtime makes durable.
 *
 * An actor never does anything. It receives a message and answers with a turn: its next state, a reply
 * and a list of effects, all of them data. The runtime commits the turn in one transaction and carries
 * the effects out afterwards, at least once, each under a deterministic id. Nothing in this tree
 * may touch a clock, a random source, the network or the disk: time, ids and the message's identity come in `Context`.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import type { ScheduleOf } from "./effect.ts";
import type { Json } from "./json.ts";
import type { BodyOf, Messages, Protocol, ReplyOf } from "./message.ts";
import type { Context, Turn } from "./turn.ts";

export type Receive<State, M extends Messages> = {
  readonly [T in keyof M]: (state: State | null, body: BodyOf<M[T]>, context: Context) => Turn<State, ReplyOf<M[T]>, M>;
};

export interface ActorDefinition<
  S extends TSchema = TSchema,
  M extends Messages = Messages,
  Listed extends string = string,
> extends Protocol<M> {
  /** Checked whenever a state is loaded from the store. */
  readonly state: S;
  /** A state that an earlier version stored, in today's shape; absent: there was never another. Part of every read. */
  readonly upgrade?: (stored: Json) => Json;
  /**
   * Members of the state that lists and other quick readers need. They are stored in a column of their own, so that
   * those readers load nothing else. Absent: the state is stored whole.
   */
  readonly listed?: readonly Listed[];
  /**
   * The timers that a state asks for, as its turns set them. They are set from it for actors of a version that kept
   * timers elsewhere; absent: actors of this kind set none.
   */
  readonly timers?: (state: Static<S>) => readonly ScheduleOf<M>[];
  readonly receive: Receive<Static<S>, M>;
}

/** An actor of any state and messages; its handlers are called only with what its own schemas admit. */
export interface AnyActorDefinition extends Omit<ActorDefinition, "receive" | "timers"> {
  readonly timers?: object;
  readonly receive: object;
}

/** Declares an actor kind; the handlers' types follow from the schemas. */
export function defineActor<S extends TSchema, M extends Messages, Listed extends keyof Static<S> & string = never>(
  definition: Protocol<M> & {
    readonly state: S;
    readonly upgrade?: (stored: Json) => Json;
    readonly listed?: readonly Listed[];
    readonly timers?: (state: Static<S>) => readonly NoInfer<ScheduleOf<M>>[];
    readonly receive: Receive<Static<S>, NoInfer<M>>;
  },
): ActorDefinition<S, M, Listed> {
  return definition;
}
