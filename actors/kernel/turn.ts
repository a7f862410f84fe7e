/** One turn: what a handler may know, and what it answers. */
import type { Effect } from "./effect.ts";
import type { Json } from "./json.ts";
import type { ReplyTo } from "./message.ts";

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

/** The answer to one message. A `state` of null ends the actor: its row and its logs are erased. */
export interface Turn<State> {
  readonly state: State | null;
  /** Answers the caller now; leave it out to answer later (see `ReplyTo`) or never. */
  readonly reply?: Json;
  readonly effects: readonly Effect[];
}
