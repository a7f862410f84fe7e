/**
 * Takes over the mailboxes of a single Redis server whose data were moved to a Cluster, where they have other names: their
 * messages are appended to the mailboxes under the new names, in their order. A node does so before it sends or reads
 * anything, so that no later message of a sender overtakes them. Several nodes may do so at once, and one that dies on
 * the way leaves the rest to the next: what is appended twice is a repeat, which the receiver drops.
 */
import type { Sql } from "../../store/postgres/pool.ts";
import type { RedisClient } from "../../store/redis/connections.ts";
import { appendAll, keepIdsAbove, trimTo } from "./mailbox.ts";
import type { Keys } from "./partition.ts";
import { ReadSize } from "./read-size.ts";

/** Messages moved with one command, at most: fewer while they are large (`read-size.ts`). */
const pageSize = 256;
/** Mailboxes looked for at once. */
const atOnce = 32;

export interface FormerMailboxesOptions {
  readonly sql: Sql;
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Told once for each mailbox that held something. */
  readonly report: (event: "former_mailbox", facts: { readonly partition: number; readonly messages: number }) => void;
}

/** @throws when a store is away; to be called again then */
export async function takeOverMailboxes({ sql, redis, keys, report }: FormerMailboxesOptions): Promise<void> {
  if (keys.formerMailbox(0) === null) return;
  const rows = await sql<{ partition: number; offset: string }[]>`
    select partition, mailbox_offset as offset from runtime_partitions`;
  const append = appendAll(redis);
  const size = new ReadSize(pageSize);
  for (let start = 0; start < rows.length; start += atOnce) {
    await Promise.all(rows.slice(start, start + atOnce).map(takeOver));
  }

  async function takeOver({ partition, offset }: { partition: number; offset: string }): Promise<void> {
    const former = keys.formerMailbox(partition);
    if (former === null || (await redis.exists(former)) === 0) return;
    const key = keys.mailbox(partition);
    // What the new mailbox hands out has to lie behind what is committed, which was counted by the former one.
    await keepIdsAbove(redis, key, offset);
    let moved = 0;
    for (;;) {
      const page = await redis.xrange(former, `(${offset}`, "+", "COUNT", size.of(atOnce));
      const last = page.at(-1);
      if (last === undefined) break;
      size.note(page.map(([, fields]) => fields[1]?.length ?? 0));
      await append(
        key,
        page.map(([, fields]) => fields[1] ?? ""),
      );
      await trimTo(redis, former, last[0]);
      moved += page.length;
    }
    await redis.del(former);
    if (moved > 0) report("former_mailbox", { partition, messages: moved });
  }
}
