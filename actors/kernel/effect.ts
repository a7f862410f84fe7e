/**
 * Effects: what an actor wants done after its turn is committed. They are data; the functions of this file make them
 * from definitions, so that a message, a body or an outcome that does not fit does not compile.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import type { ActivityDefinition, InputOf, Outcome } from "./activity.ts";
import type { Json } from "./json.ts";
import type { BodyOf, Message, MessageDefinition, Messages, Protocol, ReplyOf, ReplyTo, TypeOf } from "./message.ts";

/** The body that an effect brings back to its own actor; exists for the compiler only. */
declare const returns: unique symbol;

export interface TellEffect {
  readonly effect: "tell";
  readonly kind: string;
  readonly key: string;
  readonly message: Message;
  readonly coCommit?: true;
  /** Of the receiver's protocol as the sender knows it; absent: the first. */
  readonly version?: number;
}

export interface EmitEffect {
  readonly effect: "emit";
  /** Live tails follow the one that is called `events`. */
  readonly log: string;
  readonly entry: Json;
}

export interface FactEffect {
  readonly effect: "fact";
  readonly name: string;
  readonly fact: Json;
}

export interface ScheduleEffect<Type extends string = string, Body = unknown> {
  readonly effect: "schedule";
  readonly timer: string;
  readonly at: number;
  readonly message: { readonly type: Type; readonly body: Json };
  readonly [returns]: Body;
}

export interface CancelEffect {
  readonly effect: "cancel";
  readonly timer: string;
}

export interface PerformEffect<Then extends string = string, Body = unknown> {
  readonly effect: "perform";
  readonly activity: string;
  /** Of the activity, as the actor knows it; absent: the first. */
  readonly version?: number;
  readonly id: string;
  readonly input: Json;
  readonly then: Then;
  readonly [returns]: Body;
}

export interface AbandonEffect {
  readonly effect: "abandon";
  readonly id: string;
}

export interface ReplyEffect {
  readonly effect: "reply";
  readonly to: ReplyTo;
  readonly value: Json;
}

/** A timer of an actor with these messages. */
export type ScheduleOf<M extends Messages> = { [T in TypeOf<M>]: ScheduleEffect<T, BodyOf<M[T]>> }[TypeOf<M>];

/** An effect of an actor with these messages: timers and outcomes come back to it as messages that it takes. */
export type Effect<M extends Messages = Messages> =
  | TellEffect
  | EmitEffect
  | FactEffect
  | CancelEffect
  | AbandonEffect
  | ReplyEffect
  | { [T in TypeOf<M>]: ScheduleEffect<T, BodyOf<M[T]>> | PerformEffect<T, BodyOf<M[T]>> }[TypeOf<M>];

export interface TellOptions {
  /**
   * Where the receiver lives beside this actor (`newIdBeside`), its turn is part of the same commit, and it runs before
   * any message that comes later; should that turn fail, or should the two live apart, the message is sent like any
   * other. Use one way or the other between two actors: the two keep no order among each other.
   */
  readonly coCommit?: true;
}

/** Sends a message to another actor of the same tenant. */
export function tell<M extends Messages, T extends TypeOf<M>>(
  to: Protocol<M>,
  key: string,
  type: T,
  body: BodyOf<M[T]>,
  options: TellOptions = {},
): TellEffect {
  const told = { effect: "tell", kind: to.kind, key, message: { type, body: json(body) }, ...options } as const;
  return to.version === undefined ? told : { ...told, version: to.version };
}

/** One of an actor's own logs, by name. */
export interface LogDefinition<Entry extends TSchema = TSchema> {
  readonly name: string;
  readonly entry: Entry;
}

export function defineLog<Entry extends TSchema>(name: string, entry: Entry): LogDefinition<Entry> {
  return { name, entry };
}

/** Appends an entry to one of the actor's own logs; entries of a log are numbered from 1 without gaps. */
export function emit<Entry extends TSchema>({ name }: LogDefinition<Entry>, entry: Static<Entry>): EmitEffect {
  return { effect: "emit", log: name, entry: json(entry) };
}

/** What a turn puts on record outside of its actor, by the name under which the node writes it. */
export interface FactDefinition<Fact extends TSchema = TSchema> {
  readonly name: string;
  readonly fact: Fact;
}

export function defineFact<Fact extends TSchema>(name: string, schema: Fact): FactDefinition<Fact> {
  return { name, fact: schema };
}

/**
 * Puts something on record in the commit of the turn: it is written with the state or not at all, and stays when the
 * actor ends. The turn fails on a node that has nothing to write it with.
 */
export function fact<Fact extends TSchema>({ name }: FactDefinition<Fact>, value: Static<Fact>): FactEffect {
  return { effect: "fact", name, fact: json(value) };
}

/**
 * Wakes this actor with a message at `at` (Unix ms). The name identifies the timer for `cancel`; scheduling a name that
 * is already waiting does nothing. A fired timer is only a message: the actor decides whether it still matters.
 */
export function schedule<T extends string, const Body>(
  timer: string,
  at: number,
  type: T,
  body: Body,
): ScheduleEffect<T, Body> {
  return { effect: "schedule", timer, at, message: { type, body: json(body) } } as ScheduleEffect<T, Body>;
}

export function cancel(timer: string): CancelEffect {
  return { effect: "cancel", timer };
}

/**
 * Has slow or outside work done. Its outcome comes back as message `then`. `id` is unique per piece of work and reaches
 * the outside as its idempotency key.
 */
export function perform<A extends ActivityDefinition, Then extends string>(
  activity: A,
  input: InputOf<A>,
  { id, then }: { readonly id: string; readonly then: Then },
): PerformEffect<Then, Outcome<A>> {
  const version = activity.version === undefined ? {} : { version: activity.version };
  return { effect: "perform", activity: activity.name, id, input: json(input), then, ...version } as PerformEffect<
    Then,
    Outcome<A>
  >;
}

/** The outcome of a piece of work is no longer wanted: stop it, and let it clean up after itself. */
export function abandon(id: string): AbandonEffect {
  return { effect: "abandon", id };
}

/** Answers a caller whose message, of this definition, an earlier turn left unanswered. */
export function reply<D extends MessageDefinition>(_message: D, to: ReplyTo, value: ReplyOf<D>): ReplyEffect {
  return { effect: "reply", to, value: json(value) };
}

/** What fits a schema of messages, activities or logs is JSON: they travel and are stored as nothing else. */
function json(value: unknown): Json {
  return value as Json;
}
