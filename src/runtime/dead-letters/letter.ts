/** A message whose turn failed for good, as it is kept. */
import type { Json } from "../../../actors/kernel/json.ts";

/** A dead letter as lists have it. */
export interface DeadLetterLine {
  readonly id: string;
  /** Of the actor; empty where the mailbox entry itself was damaged, which cannot be sent again. */
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  /** Of the message. */
  readonly type: string;
  readonly error: string;
  readonly attempts: number;
  readonly created_at: string;
  readonly replayed_at: string | null;
}

export interface DeadLetter extends DeadLetterLine {
  readonly body: Json;
}

/** Which dead letters a list has. */
export interface DeadLetterFilter {
  readonly tenant?: string;
  readonly kind?: string;
  readonly since?: Date;
}

/** A place in such a list: `created_at` to the microsecond, as PostgreSQL writes it, and the id. */
export type DeadLetterPlace = readonly [createdAt: string, id: string];
