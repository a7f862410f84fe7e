/** Counting what was made within spans of time, by pieces of it, of one tenant or of each that a table has rows of. */
import type { Fragment } from "postgres";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** From a moment up to another, which is not part of it. */
export interface CountedSpan {
  readonly from: Date;
  readonly to: Date;
}

/** @param piece number of the piece of time since 1970 */
export interface PieceCount {
  readonly piece: number;
  readonly status: string;
  readonly count: number;
}

/** Null: of all tenants. */
export type CountPieces = (
  query: Sql | Transaction,
  tenant: string | null,
  span: CountedSpan,
  pieceMs: number,
) => Promise<readonly PieceCount[]>;

/** Beginning of a statement that has `tenants (tenant)`: this one; null: all of a table, each found by its index. */
export function withTenants(query: Sql | Transaction, table: string, tenant: string | null): Fragment {
  if (tenant !== null) return query`with tenants (tenant) as (select ${tenant}::text)`;
  return query`
    with recursive found (tenant) as (
      (select tenant from ${query(table)} order by tenant limit 1)
      union all
      select (select t.tenant from ${query(table)} t where t.tenant > found.tenant order by t.tenant limit 1)
      from found where found.tenant is not null),
    tenants (tenant) as (select tenant from found where tenant is not null)`;
}

/** When the piece began that a column's time lies in: cheap for each row. */
export const begunAt = (query: Sql | Transaction, column: string, pieceMs: number): Fragment =>
  query`date_bin(${pieceMs} * interval '1 millisecond', ${query(column)}, timestamptz 'epoch')`;

/** The number of a piece by when it began, once for all rows of it. */
export const numberOf = (query: Sql | Transaction, begun: Fragment, pieceMs: number): Fragment =>
  query`floor(extract(epoch from ${begun}) * 1000 / ${pieceMs})::float8`;
