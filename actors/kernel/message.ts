/** Messages: what an actor can be told or asked. */
import type { TSchema } from "@sinclair/typebox";
import type { Json } from "./json.ts";

/** Where a deferred reply goes: kept in the state until a later turn answers it with a `reply` effect. */
export interface ReplyTo {
  /** The node whose caller waits. */
  readonly node: string;
  /** The waiting call on that node. */
  readonly call: string;
  /** Unix milliseconds after which nobody waits any more. */
  readonly until: number;
}

/** One message to an actor. `body` must fit the schema the receiving kind declares for `type`. */
export interface Message {
  readonly type: string;
  readonly body: Json;
}

export type Messages = { readonly [type: string]: TSchema };
