/** Dead letters: messages whose turn could not be run or stored, kept for an operator to look at and send again. */

import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql, Transaction } from "../../store/postgres.ts";
import { type RedisClient, slotGroupsOf } from "../../store/redis.ts";
import { MailboxWriter } from "../mailbox/mailbox.ts";
import { partitionOf, runtimeKeys } from "../mailbox/partition.ts";
import type { Address, DeadLetter } from "../port.ts";

interface Row {
  id: string;
  kind: string;
  key: string;
  tenant: string;
  type: string;
  body: string;
  error: string;
  attempts: number;
  created_at: Date;
  replayed_at: Date | null;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class DeadLetters {
  constructor(
    private readonly sql: Sql,
    private readonly send: (to: Address, type: string, body: Json) => Promise<void>,
  ) {}

  /** Newest first. */
  async list(filter: { tenant?: string; kind?: string; limit?: number }): Promise<DeadLetter[]> {
    const { sql } = this;
    const rows = await sql<Row[]>`
      select * from runtime_dead_letters
      where (${filter.tenant ?? null}::text is null or tenant = ${filter.tenant ?? null})
        and (${filter.kind ?? null}::text is null or kind = ${filter.kind ?? null})
      order by created_at desc, id desc limit ${filter.limit ?? 50}`;
    return rows.map(toDeadLetter);
  }

  async inspect(id: string): Promise<DeadLetter | null> {
    if (!uuid.test(id)) return null;
    const [row] = await this.sql<Row[]>`select * from runtime_dead_letters where id = ${id}`;
    return row === undefined ? null : toDeadLetter(row);
  }

  /**
   * Sends the message again, once: the row is locked while the mailbox takes it. A crash between the
   * two leaves the letter replayable, so the actor may see the message twice, never not at all.
   * @param replayed called in the transaction that marks the letter
   */
  async replay(id: string, replayed?: (tx: Transaction, letter: DeadLetter) => Promise<void>): Promise<boolean> {
    if (!uuid.test(id)) return false;
    return await this.sql.begin(async (tx) => {
      const [row] = await tx<Row[]>`
        select * from runtime_dead_letters where id = ${id} and replayed_at is null and kind <> '' for update`;
      if (row === undefined) return false;
      await this.send({ kind: row.kind, key: row.key, tenant: row.tenant }, row.type, JSON.parse(row.body) as Json);
      await tx`update runtime_dead_letters set replayed_at = now() where id = ${id}`;
      await replayed?.(tx, toDeadLetter(row));
      return true;
    });
  }
}

function toDeadLetter(row: Row): DeadLetter {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    tenant: row.tenant,
    type: row.type,
    body: JSON.parse(row.body) as Json,
    error: row.error,
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    replayed_at: row.replayed_at?.toISOString() ?? null,
  };
}

export interface OpenDeadLettersOptions {
  /** With the service's schema. */
  readonly sql: Sql;
  readonly redis: RedisClient;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Messages a partition's mailbox may hold. */
  readonly mailboxLimit: number;
  readonly now: () => number;
  readonly newId: () => string;
}

/**
 * The dead letters for a program that is no node: it reads them, and sends them again through their mailboxes.
 * @returns null when no node has set the database up
 */
export async function openDeadLetters(options: OpenDeadLettersOptions): Promise<DeadLetters | null> {
  const { sql, redis, now } = options;
  const [table] = await sql<{ found: boolean }[]>`select to_regclass('runtime_partitions') is not null as found`;
  if (table?.found !== true) return null;
  // Counted, not configured: an actor's partition follows from the number it was set up with.
  const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
    select count(*)::int as count from runtime_partitions`;
  if (count === 0) return null;
  const writer = new MailboxWriter({
    redis,
    keys: runtimeKeys(options.prefix, slotGroupsOf(redis)),
    limit: options.mailboxLimit,
    now,
  });
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
