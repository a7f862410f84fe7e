/**
 * Messages: what an actor can be told or asked, and what it answers. A protocol is a kind of actor with its messages,
 * declared apart from its handlers, so that actors that tell each other import only that.
 */
import type { Static, TSchema } from "@sinclair/typebox";
import type { Json } from "./json.ts";

/** Where a deferred reply goes: kept in the state until a later turn answers it with a `reply` effect. */
export interface ReplyTo {
  /** The node whose caller waits. */
  readonly node: string;
  /** The waiting call on that node. */
  readonly call: string;
  /** Unix milliseconds after which the caller no longer waits. */
  readonly until: number;
}

/** One message as data, as mailboxes and timers carry it. */
export interface Message {
  readonly type: string;
  readonly body: Json;
}

/** What one message carries and how it is answered; `reply` is undefined for a message that is only told. */
export interface MessageDefinition<
  Body extends TSchema = TSchema,
  Reply extends TSchema | undefined = TSchema | undefined,
> {
  /** Checked before the message is handed to its handler. */
  readonly body: Body;
  /** The handler's type follows from it; it is not checked again at run time. */
  readonly reply: Reply;
}

/** Declares a message that is answered, at once or by a later turn. */
export function message<Body extends TSchema, Reply extends TSchema>(definition: {
  readonly body: Body;
  readonly reply: Reply;
}): MessageDefinition<Body, Reply>;
/** Declares a message that is only told. */
export function message<Body extends TSchema>(definition: { readonly body: Body }): MessageDefinition<Body, undefined>;
export function message(definition: { readonly body: TSchema; readonly reply?: TSchema }): MessageDefinition {
  return { body: definition.body, reply: definition.reply };
}

export type Messages = { readonly [type: string]: MessageDefinition };

/** What actors of a kind can be told or asked. */
export interface Protocol<M extends Messages = Messages> {
  readonly kind: string;
  /**
   * Raised whenever the shapes of the messages or of the actor's state change; absent: the first. It tells what a later
   * version wrote, which waits for a node of that version, from what is damaged.
   */
  readonly version?: number;
  readonly messages: M;
}

export function defineProtocol<const K extends string, M extends Messages>(protocol: {
  readonly kind: K;
  readonly version?: number;
  readonly messages: M;
}): Protocol<M> & { readonly kind: K } {
  return protocol;
}

export type BodyOf<D extends MessageDefinition> = Static<D["body"]>;
export type ReplyOf<D extends MessageDefinition> = D["reply"] extends TSchema ? Static<D["reply"]> : never;

/** The names of the messages. */
export type TypeOf<M extends Messages> = keyof M & string;
/** The names of the messages that are answered. */
export type AskedTypeOf<M extends Messages> = {
  [T in TypeOf<M>]: M[T]["reply"] extends TSchema ? T : never;
}[TypeOf<M>];
/** The names of the messages that take a body of this type. */
export type AcceptingTypeOf<M extends Messages, Body> = {
  [T in TypeOf<M>]: [Body] extends [BodyOf<M[T]>] ? T : never;
}[TypeOf<M>];
