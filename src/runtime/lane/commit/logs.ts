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

const addOf = (entry: string): string => `insert into runtime_logs (kind, key, log, seq, at, entry)
  select kind, key, log, seq, at, ${entry} from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[],
    string_to_array($6::text, E'\\n')) as u (kind, key, log, seq, at, entry)`;
const [add, addLarge] = [addOf("entry"), addOf(filledIn("u.entry"))];

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
