/** Lists by status: of each status as many rows as the list may need, so that an index gives them in order. */
import type { Fragment } from "postgres";
import type { Sql } from "../../store/postgres/pool.ts";

/** Statuses of what has not ended: few at any time, and the only ones that change. */
const unfinished: readonly string[] = ["pending", "running"];

/**
 * A query for what has one of these statuses, of a table with `status` and `ended_at`. What has ended and what has not
 * stand in partial indexes of their own.
 * @param statuses null: of any status
 * @param part     the query of one part, ordered and limited, with this addition to its conditions
 */
export function ofEachStatus(
  sql: Sql,
  statuses: readonly string[] | null,
  part: (condition: Fragment) => Fragment,
): Fragment {
  if (statuses === null) return part(sql``);
  const parts = [...new Set(statuses)].map((status) =>
    part(
      unfinished.includes(status)
        ? sql`and status = ${status} and ended_at is null`
        : sql`and status = ${status} and ended_at is not null`,
    ),
  );
  return parts.map((one) => sql`(${one})`).reduce((all, one) => sql`${all} union all ${one}`);
}
