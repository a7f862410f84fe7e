/**
 * What a commit consists of. Each file of this folder is one part: its rows, the statement that writes them, and its
 * parameters, numbered from $1. A part without rows is null and is left out.
 *
 * Parts of a commit run as one statement: none sees what another one writes, and no two may change the same row.
 *
 * Where rows of arrays are joined with a table, they are taken with \`limit cardinality($1)\`. For a plan that is made once
 * for all lengths PostgreSQL then reckons with one row. Otherwise it reckons with ten, reads whole tables or, since
 * plans for the very array look cheaper, plans the whole statement anew at each commit.
 */
import type { Statement } from "../../port.ts";

export interface Part extends Statement {
  /** By which parts after it use what it yields; absent where none does. */
  readonly name?: string;
}

/** A part that writes rows, null for none; its parameters are made only when there are some. */
export function rowsPart(text: string, rows: readonly unknown[], parametersOf: () => readonly unknown[]): Part | null {
  return rows.length === 0 ? null : { text, parameters: parametersOf() };
}
