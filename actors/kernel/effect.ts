/** What an actor wants done after its turn is committed. */
import type { Json } from "./json.ts";
import type { Message, ReplyTo } from "./message.ts";

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
