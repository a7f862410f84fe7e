/**
 * Closes the mailboxes of former numbers of partitions. Each gets a value that is no stream: a node that was frozen while
 * the number was changed, and does not know it yet, is refused what it sends there, and its callers hear so.
 */
import type { Sql } from "../../store/postgres/pool.ts";
import { type RedisClient, slotGroupsOf } from "../../store/redis/connections.ts";
import { runtimeKeys } from "../mailbox/partition.ts";

/** A node that is frozen for longer is not expected back, seconds. */
const closedSeconds = 30 * 24 * 3600;
/** Mailboxes closed at once. */
const atOnce = 32;

export interface FormerMailboxesOptions {
  readonly sql: Sql;
  readonly redis: RedisClient;
  /** Starts every key in Redis. */
  readonly prefix: string;
}

/** What they held is in PostgreSQL since the number was changed. @throws when a store is away; to be called again then */
export async function closeFormerMailboxes({ sql, redis, prefix }: FormerMailboxesOptions): Promise<void> {
  const former = await sql<{ generation: number; partitions: number }[]>`
    select generation, partitions from runtime_former_mailboxes`;
  for (const { generation, partitions } of former) {
    const keys = runtimeKeys(prefix, slotGroupsOf(redis), generation);
    for (let first = 0; first < partitions; first += atOnce) {
      const some = Array.from({ length: Math.min(atOnce, partitions - first) }, (_, index) => first + index);
      await Promise.all(
        some.map((partition) =>
          redis.set(keys.mailbox(partition), "closed: the partitions were resized", "EX", closedSeconds),
        ),
      );
    }
    await sql`delete from runtime_former_mailboxes where generation = ${generation}`;
  }
}
