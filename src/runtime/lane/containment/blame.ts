/**
 * Whose fault a failed commit is. A message is blamed only on proof; everything else that can go wrong between a node
 * and its database (names that are not resolved, TLS, passwords, migrations that are missing, a server that stops) is
 * an outage: the messages wait, and none of them becomes a dead letter.
 */

import type { Delivery } from "../../mailbox/mailbox.ts";

/** SQLSTATE classes that speak of the values of a statement: 22 data, 23 constraints, 54 limits of a row or an index. */
const ofTheValues = /^(?:22|23|54)[0-9A-Z]{3}$/;

/** What a batch of turns amounts to could not be put together: nothing was sent to the store. */
export class Unstorable extends Error {
  override readonly name = "Unstorable";
}

const codeOf = (error: Error): unknown => (error as Error & { readonly code?: unknown }).code;

/**
 * Whether the batch itself is the reason: PostgreSQL refused its values, they have no form in which they could be sent,
 * or a stored state is no JSON. Nothing of it was committed then. Errors of the operating system and of Bun carry codes
 * of their own.
 */
export function isOwnFault(error: unknown): boolean {
  if (error instanceof Unstorable) return true;
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (typeof code === "string") return ofTheValues.test(code);
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * What a client sees when the backend that worked for it is killed or crashes. One that is ended in order says so
 * (57P01), and so do those that PostgreSQL ends because another one crashed (57P02): neither is the statement's doing.
 */
const connectionDeaths = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "ECONNRESET",
  "EPIPE",
  "08006",
  "08P01",
]);

/** Whether the connection died while it worked: the backend may have died of the statement. */
export function isConnectionDeath(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return typeof code === "string" && connectionDeaths.has(code);
}

const isTaken = "23505";

/**
 * A batch whose actors are not all new, to be taken once more: another attempt at a message for a new actor has made that
 * actor since the key was minted, so it is to be loaded like any other. Null where that is not why the batch was refused.
 */
export function withStoredActors(error: unknown, deliveries: readonly Delivery[]): readonly Delivery[] | null {
  if (!(error instanceof Error) || codeOf(error) !== isTaken) return null;
  if (!deliveries.some(({ envelope }) => envelope?.fresh)) return null;
  return deliveries.map((one) => (one.envelope?.fresh ? { ...one, envelope: { ...one.envelope, fresh: false } } : one));
}

/** A part of a batch that was refused, for finding the message to blame. */
export function halvesOf(deliveries: readonly Delivery[]): readonly (readonly Delivery[])[] {
  const middle = deliveries.length >> 1;
  return [deliveries.slice(0, middle), deliveries.slice(middle)].filter((half) => half.length > 0);
}
