/** What actors emitted. */
import { jsonLines, numbers, texts } from "../../../store/postgres/array-literal.ts";
import { filledIn } from "./large-texts.ts";
import { type Part, rowsPart } from "./part.ts";

export interface LogRow {
  readonly kind: string;
  readonly key: string;
  readonly log: string;
  readonly seq: number;
  readonly at: number;
  /** JSON, with the numbers of large texts in their places. */
  readonly entry: string;
}

const addOf = (entries: string): string => `insert into runtime_logs (kind, key, log, seq, at, entry)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[],
    string_to_array(${entries}, E'\\n'))`;
const [add, addLarge] = [addOf("$6::text"), addOf(filledIn("$6::text"))];

/** @param hasLarge whether entries have numbers in place of large texts */
export const logs = (rows: readonly LogRow[], hasLarge: boolean): Part | null =>
  rowsPart(hasLarge ? addLarge : add, rows, () => [
    texts(rows.map((row) => row.kind)),
    texts(rows.map((row) => row.key)),
    texts(rows.map((row) => row.log)),
    numbers(rows.map((row) => row.seq)),
    numbers(rows.map((row) => row.at)),
    jsonLines(rows.map((row) => row.entry)),
  ]);
