/**
 * After a rotation of the master key: what the earlier key wrapped is sealed anew, under a data key of its own.
 * Runs in the background on every node; a row that another node has changed meanwhile is left as it is.
 */
import { Problem } from "../../../actors/kernel/problem.ts";
import { repeatedly } from "../../lib/timers.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Sealer } from "./port.ts";

/** A column of sealed texts, in a table with the columns `id uuid` and `tenant text`. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** `version` of the place of a row's text. */
  readonly version: (row: Readonly<Record<string, unknown>>) => string;
}

export interface RewrappingOptions {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly columns: readonly SealedColumn[];
  readonly report: (event: string, facts: Record<string, unknown>) => void;
}

const everyMs = 300_000;
const atOnce = 100;

/** Without an earlier key there is nothing to do. @returns a function that ends it, after a round under way */
export function startRewrapping({ sql, sealer, columns, report }: RewrappingOptions): () => Promise<void> {
  if (sealer.outdatedPrefix === null) return async () => {};
  const round = async () => {
    for (const column of columns) {
      const counts = await rewrapRows(sql, sealer, column);
      if (counts.rewrapped + counts.failed > 0) {
        report("secrets_sealed_anew", { table: column.table, column: column.column, ...counts });
      }
    }
  };
  return repeatedly(everyMs, round, (error) => report("sealing_anew_failed", { error: String(error) }));
}

/**
 * One round over a column. What does not open is passed over; an incident tells of it.
 * @throws when the database is away; what was not done is done next time
 */
export async function rewrapRows(
  sql: Sql,
  sealer: Sealer,
  column: SealedColumn,
): Promise<{ readonly rewrapped: number; readonly failed: number }> {
  const counts = { rewrapped: 0, failed: 0 };
  const prefix = sealer.outdatedPrefix;
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
      const anew = sealedAnew(sealer, column, row, old);
      if (anew === null) {
        counts.failed += 1;
        continue;
      }
      const { count } = await sql`
        update ${sql(column.table)} set ${name} = ${anew}
        where tenant = ${row.tenant} and id = ${row.id} and ${name} = ${old}`;
      counts.rewrapped += count;
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

/** Null when it does not open. */
function sealedAnew(sealer: Sealer, { version }: SealedColumn, row: Row, sealed: string): string | null {
  const place = { tenant: row.tenant, record: row.id, version: version(row) };
  try {
    return sealer.seal(place, sealer.open(place, sealed));
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}
