/**
 * Messages that are to become dead letters though their turns went well, or may not run at all: those whose commit
 * PostgreSQL refused though they came alone, and those that were under way alone when something died. One that was
 * refused is taken again with its co-committed messages sent through the outbox first, since the fault may lie in a
 * receiver's state.
 */
import { type Envelope, messageId } from "../../mailbox/envelope.ts";
import type { Delivery } from "../../mailbox/mailbox.ts";

export interface PoisonMessage {
  readonly partition: number;
  /** Why it becomes a dead letter; null while only its co-committed messages are sent apart. */
  readonly error: string | null;
  readonly attempts: number;
}

export class PoisonMessages {
  private readonly byMessage = new Map<string, PoisonMessage>();

  /** @param joined whether turns of receivers were part of what could not be stored */
  note({ partition, envelope }: Delivery, joined: boolean, error: unknown): void {
    if (envelope === null) return;
    const why = `cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
    this.byMessage.set(messageId(envelope), { partition, error: joined ? null : why, attempts: 2 });
  }

  /** @param message its id */
  condemn(message: string, partition: number, error: string, attempts: number): void {
    this.byMessage.set(message, { partition, error, attempts });
  }

  of(envelope: Envelope): PoisonMessage | null {
    return this.byMessage.size === 0 ? null : (this.byMessage.get(messageId(envelope)) ?? null);
  }

  /** These messages are done with. */
  settle(deliveries: readonly Delivery[]): void {
    if (this.byMessage.size === 0) return;
    for (const { envelope } of deliveries) if (envelope !== null) this.byMessage.delete(messageId(envelope));
  }

  /** For partitions given up: their next owner finds the poison messages itself. */
  forget(partitions: readonly number[]): void {
    for (const [message, { partition }] of this.byMessage) {
      if (partitions.includes(partition)) this.byMessage.delete(message);
    }
  }
}
