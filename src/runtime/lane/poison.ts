/**
 * Messages that PostgreSQL would not store though they came alone, and how each is taken when it comes again:
 * first with its co-committed messages sent through the outbox, since the fault may lie in a receiver's state; then as
 * a dead letter.
 */
import { type Envelope, messageId } from "../mailbox/envelope.ts";
import type { Delivery } from "../mailbox/mailbox.ts";

export interface PoisonMessage {
  readonly partition: number;
  /** Why it becomes a dead letter; null while only its co-committed messages are sent apart. */
  readonly error: string | null;
}

export class PoisonMessages {
  private readonly byMessage = new Map<string, PoisonMessage>();

  /** @param joined whether turns of receivers were part of what could not be stored */
  note({ partition, envelope }: Delivery, joined: boolean, error: unknown): void {
    if (envelope === null) return;
    const why = `cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
    this.byMessage.set(messageId(envelope), { partition, error: joined ? null : why });
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
