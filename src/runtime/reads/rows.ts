/** The usual projection: one row for each actor of a kind, written anew when something in it changed. */
import type { Change, Projection, Statement } from "../port.ts";

export interface RowsOptions {
  readonly kind: string;
  /** Whether the row of an actor that lives on is to be written; `before` is null for a new one. */
  readonly isNews: (before: Change["before"], after: Change["after"]) => boolean;
  readonly rowOf: (change: Change) => object;
  /** INSERT … ON CONFLICT of the rows in its one parameter, a JSON list. */
  readonly upsert: string;
  /** DELETE of the rows whose keys are in its one parameter, a JSON list. */
  readonly remove: string;
}

/** One statement per commit for all rows that are new or changed, one for those that go. */
export function projectRows({ kind, isNews, rowOf, upsert, remove }: RowsOptions): Projection {
  return {
    kind,
    project: (changes) => {
      const rows = changes.filter(({ before, after }) => after !== null && isNews(before, after)).map(rowOf);
      const gone = changes.filter(({ after }) => after === null).map(({ key }) => key);
      const statements: Statement[] = [];
      if (rows.length > 0) statements.push({ text: upsert, parameters: [JSON.stringify(rows)] });
      if (gone.length > 0) statements.push({ text: remove, parameters: [JSON.stringify(gone)] });
      return statements;
    },
  };
}
