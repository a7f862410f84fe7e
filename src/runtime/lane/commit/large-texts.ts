/** Large texts of a commit, each sent once, however often its states and log entries hold it (`../batch/large-texts.ts`). */
import { jsonLines } from "../../../store/postgres/array-literal.ts";
import { type Part, rowsPart } from "./part.ts";

const name = "large";

/** To stand before the parts that use it. @param rows JSON of each */
export function largeTexts(rows: readonly string[]): Part | null {
  // To take a text of mebibytes apart costs as much as to send it: a single one is not looked through.
  const texts = rows.length === 1 ? "array[$1::text]" : "string_to_array($1::text, E'\\n')";
  const part = rowsPart(`select ${texts} as texts`, rows, () => [jsonLines(rows)]);
  return part === null ? null : { ...part, name };
}

/**
 * A text of one row with the large texts in their places. Its parts come in their order: they are those of one function,
 * which nothing is joined with.
 * @param column that has it
 */
export const filledIn = (column: string): string =>
  `(select string_agg(case when place % 2 = 1 then piece else (select texts from ${name})[piece::int] end, '')
    from unnest(string_to_array(${column}, E'\\x1f')) with ordinality as p (piece, place))`;
