/** Dead letters for a program that is no node: it reads them, and sends them again through their mailboxes. */
import type { Redis } from "ioredis";
import type { Sql } from "../../store/postgres.ts";
import { MailboxWriter } from "../mailbox/mailbox.ts";
import { partitionOf, runtimeKeys } from "../mailbox/partition.ts";
import { DeadLetters } from "./dead-letter.ts";

export interface DeskOptions {
  /** With the service's schema. */
  readonly sql: Sql;
  readonly redis: Redis;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Messages a partition's mailbox may hold. */
  readonly mailboxLimit: number;
  readonly now: () => number;
  readonly newId: () => string;
}

/** The letters of a database that a node has set up; null when none has. */
export async function openDeadLetters(options: DeskOptions): Promise<DeadLetters | null> {
  const { sql, redis, now } = options;
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('runtime_partitions') is not null as found`;
  if (table?.found !== true) return null;
  // Counted, not configured: an actor's partition follows from the number it was set up with.
  const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
    select count(*)::int as count from runtime_partitions`;
  if (count === 0) return null;
  const writer = new MailboxWriter({ redis, keys: runtimeKeys(options.prefix), limit: options.mailboxLimit, now });
  const source = `n${options.newId()}`;
  let sequence = 0;
  return new DeadLetters(sql, ({ kind, key, tenant }, type, body) => {
    sequence += 1;
    const names = { source, sequence, kind, key, tenant, type };
    return writer.send(partitionOf(kind, key, count), {
      ...names,
      body,
      replyTo: null,
      activity: null,
      fresh: false,
    });
  });
}
