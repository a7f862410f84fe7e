/** Dead letters: messages whose turn could not be run or stored, kept for an operator to look at and send again. */

import type { Json } from "../../../actors/kernel/json.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { partitionOf } from "../mailbox/partition.ts";
import { readPartitioning } from "../ownership/partitions.ts";
import type { DeadLetter, DeadLetterFilter, DeadLetterLine, DeadLetterPlace } from "./letter.ts";

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

/** Bytes of the bodies of a list, about. */
const listBytes = 8 * 1024 * 1024;

/** A time as a place of a list holds it: microseconds since 1970, of which PostgreSQL reads so many. */
const microseconds = /^\d{1,17}$/;
const instant = (sql: Sql, text: string) => sql`timestamptz 'epoch' + ${text}::text::bigint * interval '1 microsecond'`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class DeadLetters {
  constructor(private readonly sql: Sql) {}

  /** Newest first; a list whose bodies come to more than 8 MiB ends early, behind its first letter. */
  async list(filter: { tenant?: string; kind?: string; limit?: number }): Promise<DeadLetter[]> {
    const { sql } = this;
    const rows = await sql<Row[]>`
      select * from (
        select first.*, sum(octet_length(body)) over (order by created_at desc, id desc) - octet_length(body) as before
        from (
          select * from runtime_dead_letters
          where (${filter.tenant ?? null}::text is null or tenant = ${filter.tenant ?? null})
            and (${filter.kind ?? null}::text is null or kind = ${filter.kind ?? null})
          order by created_at desc, id desc limit ${filter.limit ?? 50}) first
      ) page where before < ${listBytes} order by created_at desc, id desc`;
    return rows.map(toDeadLetter);
  }

  /** A part of the list without bodies, newest first. A place that is none finds nothing. */
  async page(
    { tenant, kind, since }: DeadLetterFilter,
    page: { readonly after: DeadLetterPlace | null; readonly offset: number; readonly limit: number },
  ): Promise<(DeadLetterLine & { readonly place: DeadLetterPlace })[]> {
    const { sql } = this;
    const [at = "", id = ""] = page.after ?? [];
    if (page.after !== null && !(microseconds.test(at) && uuid.test(id))) return [];
    const rows = await sql<(Omit<Row, "body"> & { place: string })[]>`
      select id, kind, key, tenant, type, error, attempts, created_at, replayed_at,
        (extract(epoch from created_at) * 1000000)::bigint::text as place
      from runtime_dead_letters
      where ${tenant === undefined ? sql`true` : sql`tenant = ${tenant}`}
        and ${kind === undefined ? sql`true` : sql`kind = ${kind}`}
        and ${since === undefined ? sql`true` : sql`created_at >= ${since}`}
        and ${page.after === null ? sql`true` : sql`(created_at, id) < (${instant(sql, at)}, ${id}::uuid)`}
      order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
    return rows.map((row) => ({ ...toLine(row), place: [row.place, row.id] }));
  }

  async inspect(id: string): Promise<DeadLetter | null> {
    if (!uuid.test(id)) return null;
    const [row] = await this.sql<Row[]>`select * from runtime_dead_letters where id = ${id}`;
    return row === undefined ? null : toDeadLetter(row);
  }

  /**
   * Sends the message again, once: the letter is marked in the transaction that puts it into the inbox, where the
   * owner of its partition finds it within seconds.
   * @param replayed called in the transaction that marks the letter
   */
  async replay(id: string, replayed?: (tx: Transaction, letter: DeadLetter) => Promise<void>): Promise<boolean> {
    if (!uuid.test(id)) return false;
    return await this.sql.begin(async (tx) => {
      const [row] = await tx<Row[]>`
        select * from runtime_dead_letters where id = ${id} and replayed_at is null and kind <> '' for update`;
      if (row === undefined) return false;
      // Their number is not changed before this transaction has ended.
      await tx`lock table runtime_partitions in row share mode`;
      const { count } = await readPartitioning(tx);
      await tx`
        insert into runtime_inbox (partition, kind, key, tenant, type, body)
        values (${partitionOf(row.kind, row.key, count)}, ${row.kind}, ${row.key}, ${row.tenant}, ${row.type},
          ${row.body})`;
      await tx`update runtime_dead_letters set replayed_at = now() where id = ${id}`;
      await replayed?.(tx, toDeadLetter(row));
      return true;
    });
  }
}

const toDeadLetter = (row: Row): DeadLetter => ({ ...toLine(row), body: JSON.parse(row.body) as Json });

function toLine(row: Omit<Row, "body">): DeadLetterLine {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    tenant: row.tenant,
    type: row.type,
    error: row.error,
    attempts: row.attempts,
    created_at: row.created_at.toISOString(),
    replayed_at: row.replayed_at?.toISOString() ?? null,
  };
}
