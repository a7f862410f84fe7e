/** The usual projection: one row for each actor of a kind, written anew when something in it changed. */
import type { ActorChange, Statement } from "../port.ts";

export interface RowsOptions<State> {
  /** Whether the row of an actor that lives on is to be written anew; the row of a new one always is. */
  readonly isNews: (before: State, after: State) => boolean;
  readonly rowOf: (key: string, tenant: string, state: State) => object;
  /** INSERT … ON CONFLICT of the rows in its one parameter, a JSON list. */
  readonly upsert: string;
  /** DELETE of the rows whose keys are in its one parameter, a JSON list. */
  readonly remove: string;
}

/** One statement per commit for all rows that are new or changed, one for those that go. */
export function projectRows<State>({ isNews, rowOf, upsert, remove }: RowsOptions<State>) {
  return (changes: readonly ActorChange<State>[]): Statement[] => {
    const rows: object[] = [];
    const gone: string[] = [];
    for (const { key, tenant, before, after } of changes) {
      if (after === null) gone.push(key);
      else if (before === null || isNews(before, after)) rows.push(rowOf(key, tenant, after));
    }
    const statements: Statement[] = [];
    if (rows.length > 0) statements.push({ text: upsert, parameters: [JSON.stringify(rows)] });
    if (gone.length > 0) statements.push({ text: remove, parameters: [JSON.stringify(gone)] });
    return statements;
  };
}
