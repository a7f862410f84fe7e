/**
 * After a rotation of the master key: what the earlier key wrapped is encrypted again, under a data key of its own.
 * Runs in the background on every node; a row that another node has changed meanwhile is left as it is.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { EncryptedColumn, Encryption } from "./encrypted.ts";

export interface ReencryptionOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly columns: readonly EncryptedColumn[];
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 300_000;
const atOnce = 100;

/** Without an earlier key there is nothing to do. @returns a function that ends it, after a round under way */
export function startReencryption({ sql, encryption, columns, report }: ReencryptionOptions): () => Promise<void> {
  if (encryption.outdatedPrefix === null) return async () => {};
  const round = async () => {
    for (const column of columns) {
      const counts = await reencryptRows(sql, encryption, column);
      if (counts.reencrypted + counts.failed > 0) {
        report("secrets_reencrypted", { table: column.table, column: column.column, ...counts });
      }
    }
  };
  return repeatedly(everyMs, round, (error) => report("reencryption_failed", { error: String(error) }));
}

/**
 * One round over a column. What cannot be decrypted is passed over; an incident tells of it.
 * @throws when the database is away; what was not done is done next time
 */
export async function reencryptRows(
  sql: Sql,
  encryption: Encryption,
  column: EncryptedColumn,
): Promise<{ readonly reencrypted: number; readonly failed: number }> {
  const counts = { reencrypted: 0, failed: 0 };
  const prefix = encryption.outdatedPrefix;
  if (prefix === null) return counts;
  const name = sql(column.column);
  let after: string | null = null;
  for (;;) {
    const rows: readonly Row[] = await sql<Row[]>`
      select * from ${sql(column.table)}
      where starts_with(${name}, ${prefix}) and (${after}::uuid is null or id > ${after}::uuid)
      order by id limit ${atOnce}`;
    for (const row of rows) {
      const old = String(row[column.column]);
      const fresh = reencrypted(encryption, column, row, old);
      if (fresh === null) {
        counts.failed += 1;
        continue;
      }
      const { count } = await sql`
        update ${sql(column.table)} set ${name} = ${fresh}
        where tenant = ${row.tenant} and id = ${row.id} and ${name} = ${old}`;
      counts.reencrypted += count;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) return counts;
    after = last.id;
  }
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly tenant: string;
}

/** Null when it cannot be decrypted. */
function reencrypted(
  encryption: Encryption,
  { version }: EncryptedColumn,
  row: Row,
  ciphertext: string,
): string | null {
  const context = { tenant: row.tenant, record: row.id, version: version(row) };
  try {
    return encryption.encrypt(context, encryption.decrypt(context, ciphertext));
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
