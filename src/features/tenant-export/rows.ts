/** The rows of a tenant in one table, as lines of JSON, read a few at a time as they stood at one moment. */
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { ExportedTable } from "../feature.ts";

/** Rows held at once; one may be as large as a delivery. */
const atOnce = 20;
/** ISO 8601 in UTC, as all answers have times. */
const timeFormat = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** Columns that leave, in their order. */
export const columnsOf = ({ columns }: ExportedTable): readonly string[] => columns.split(" ");

/**
 * Calls `line` with each row, as a text without a line's end.
 * @throws what the database and `line` throw
 */
export async function eachRow(
  sql: Sql,
  name: string,
  table: ExportedTable,
  tenant: string,
  line: (text: string) => Promise<void>,
): Promise<void> {
  const documents = new Set(table.json?.split(" ") ?? []);
  await sql.begin("isolation level repeatable read read only", async (tx) => {
    const types = await typesOf(tx, name);
    const selected = columnsOf(table).map((column) =>
      types.get(column) === "timestamp with time zone"
        ? `to_char("${column}" at time zone 'UTC', ${timeFormat}) as "${column}"`
        : `"${column}"`,
    );
    // Names of tables and columns, and the condition, are the code's own.
    const query = `select ${selected.join(", ")} from "${name}" where ${table.rows ?? "tenant = $1"}`;
    await tx.unsafe(`declare rows no scroll cursor for select row_to_json(r)::text as line from (${query}) r`, [
      tenant,
    ]);
    for (;;) {
      const rows = await tx.unsafe<{ line: string }[]>(`fetch ${atOnce} from rows`);
      for (const row of rows) await line(lineOf(row.line, documents));
      if (rows.length < atOnce) return;
    }
  });
}

async function typesOf(tx: Transaction, name: string): Promise<ReadonlyMap<string, string>> {
  const rows = await tx<{ name: string; type: string }[]>`
    select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = to_regclass(${name}) and attnum > 0 and not attisdropped`;
  return new Map(rows.map((row) => [row.name, row.type]));
}

/** Documents that PostgreSQL keeps as they were written may have line ends of their own. */
function lineOf(text: string, documents: ReadonlySet<string>): string {
  const row = JSON.parse(text) as Record<string, unknown>;
  for (const column of documents) row[column] = documentOf(row[column]);
  return JSON.stringify(row);
}

function documentOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
