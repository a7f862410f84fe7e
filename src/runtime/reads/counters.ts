/**
 * How many actors of a kind there are, by tenant and by a subject that their state names. Written in the turn's commit;
 * counting rows would take longer with each of them.
 */
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { ActorChange, Statement } from "../port.ts";

/** Rows of one counter. Connections share one at times; then a commit waits for the other, for a moment. */
const shards = 16;

// In one order everywhere, so that two commits do not lock each other out.
const add = `
insert into runtime_counters as c (kind, tenant, subject, shard, count)
select kind, tenant, subject, pg_backend_pid() % ${shards}, count
from json_to_recordset($1::text::json) as r (kind text, tenant text, subject text, count bigint)
order by tenant, subject
on conflict (kind, tenant, subject, shard) do update set count = c.count + excluded.count`;

/**
 * Statements of a projection that count the actors which begin or end with these changes, or are another subject's.
 * @param subjectOf what a state is counted under
 */
export function countChanges<State>(
  kind: string,
  changes: readonly ActorChange<State>[],
  subjectOf: (state: State) => string,
): Statement[] {
  const counts = new Map<string, { kind: string; tenant: string; subject: string; count: number }>();
  const count = (tenant: string, state: State | null, change: number) => {
    if (state === null) return;
    const subject = subjectOf(state);
    const name = `${tenant} ${subject}`;
    const counted = counts.get(name) ?? { kind, tenant, subject, count: 0 };
    counted.count += change;
    counts.set(name, counted);
  };
  for (const { tenant, before, after } of changes) {
    if (before !== null && after !== null && subjectOf(before) === subjectOf(after)) continue;
    count(tenant, before, -1);
    count(tenant, after, 1);
  }
  return counts.size === 0 ? [] : [{ text: add, parameters: [JSON.stringify([...counts.values()])] }];
}

/** The counters of a tenant's subjects; those that were never counted are left out. */
export async function countsOf(
  sql: Sql,
  kind: string,
  tenant: string,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (subjects.length === 0) return new Map();
  const rows = await sql<{ subject: string; count: number }[]>`
    select subject, sum(count)::int as count from runtime_counters
    where kind = ${kind} and tenant = ${tenant} and subject = any(${texts(subjects)}::text[]) group by subject`;
  return new Map(rows.map(({ subject, count }) => [subject, count]));
}
