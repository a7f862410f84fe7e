/** Messages that leave with another transaction: stored in it, sent after it, by whichever node looks first. */
import type { TransactionSql } from "postgres";
import type { Json } from "../../../actors/kernel/json.ts";
import { texts } from "../../store/array-literal.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Address, PendingTell } from "../port.ts";

export async function storePendingTells(
  tx: TransactionSql,
  messages: readonly PendingTell[],
  newId: () => string,
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ to, type, body }) => ({ id: newId(), ...to, type, body: JSON.stringify(body) }));
  await tx`insert into runtime_pending_tells ${tx(rows, "id", "kind", "key", "tenant", "type", "body")}`;
}

/**
 * Sends stored messages older than `minAgeMs`. A crash in the middle sends some of them again; one that is not
 * accepted now stays for later and leaves the others alone.
 */
export async function flushPendingTells(
  { sql, send }: { sql: Sql; send: (to: Address, type: string, body: Json) => Promise<void> },
  minAgeMs: number,
): Promise<void> {
  for (;;) {
    const count = await sql.begin(async (tx) => {
      const rows = await tx<{ id: string; kind: string; key: string; tenant: string; type: string; body: string }[]>`
        select id, kind, key, tenant, type, body from runtime_pending_tells
        where created_at <= now() - ${`${minAgeMs} milliseconds`}::interval
        order by created_at limit 200 for update skip locked`;
      if (rows.length === 0) return 0;
      const sends = await Promise.allSettled(rows.map((row) => send(row, row.type, JSON.parse(row.body) as Json)));
      const sent = rows.filter((_, index) => sends[index]?.status === "fulfilled");
      await tx`delete from runtime_pending_tells where id = any(${texts(sent.map((row) => row.id))}::uuid[])`;
      return sent.length;
    });
    if (count < 200) return;
  }
}
