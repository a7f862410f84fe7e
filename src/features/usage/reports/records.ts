/**
 * Usage summed up, tenant first: of whole days and hours from sums that are made already, of the rest from the activities
 * themselves. The sums of hours and days are added to only behind where they ended, so that what was read to end there is
 * whole, whatever is summed up meanwhile.
 */
import type { Fragment } from "postgres";
import { divides, type Figure, type Grouping, type Sums } from "../../../../actors/usage/figures.ts";
import { type Span, type Spans, spansOf } from "../../../../actors/usage/spans.ts";
import type { Page } from "../../../http/paging.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface SummedRow extends Sums {
  /** Null: what has none, or the totals. */
  readonly key: string | null;
}

export interface Report {
  readonly totals: Sums;
  /** By key, those without one last; one more than was asked for says that there are more. */
  readonly rows: readonly SummedRow[];
}

/** Figures as columns of sums. */
const columnOf: Readonly<Record<Figure, string>> = {
  executions: "executions",
  tool_calls: "tool_calls",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cost: "cost",
  sandbox_seconds: "sandbox_ms",
  storage_gib_hours: "bytes",
  host_commands: "host_commands",
};

const keyColumn = { agent: "agent_id", model: "model", workflow: "workflow", tool: "tool" } as const;

/** Sort key of a row: those without a key come last. */
export const placeOf = (key: string | null): readonly string[] => [key === null ? "1" : "0", key ?? ""];

export type Reports = ReturnType<typeof reportRecords>;

export function reportRecords(sql: Sql) {
  const key = (grouping: Grouping): Fragment =>
    grouping === "day" ? sql`to_char(at at time zone 'UTC', 'YYYY-MM-DD')` : sql`${sql(keyColumn[grouping])}`;

  const within = (column: "at" | "start" | "hour", spans: readonly Span[]): Fragment =>
    spans.reduce<Fragment>(
      (all, { from, to }) => sql`${all} or (${sql(column)} >= ${new Date(from)} and ${sql(column)} < ${new Date(to)})`,
      sql`false`,
    );

  const summed = (tenant: string, hours: 1 | 24, spans: readonly Span[]): Fragment => sql`
    select start as at, agent_id, model, workflow, tool, executions, tool_calls, input_tokens, output_tokens, cost,
      sandbox_ms, host_commands, 0::bigint as bytes
    from usage_sums where tenant = ${tenant} and hours = ${hours} and (${within("start", spans)})`;

  const single = (tenant: string, spans: readonly Span[]): Fragment => sql`
    select at, agent_id, model, workflow, tool, (kind = 1)::int, (kind = 3)::int, coalesce(input_tokens, 0),
      coalesce(output_tokens, 0), coalesce(cost, 0), coalesce(duration_ms, 0), (kind = 5)::int, 0
    from usage_activities where tenant = ${tenant} and (${within("at", spans)})`;

  const stored = (tenant: string, span: Span): Fragment => sql`
    select hour, null, null, null, null, 0, 0, 0, 0, 0, 0, 0, bytes
    from usage_storage where tenant = ${tenant} and (${within("hour", [span])})`;

  async function spansNow(span: Span): Promise<Spans> {
    const [progress] = await sql<[{ hours: Date; days: Date }]>`
      select hours_until as hours, days_until as days from usage_progress`;
    return spansOf(span, { hours: progress.hours.getTime(), days: progress.days.getTime() });
  }

  const partsOf = (tenant: string, span: Span, { days, hours, activities }: Spans): Fragment =>
    [
      ...(days.length === 0 ? [] : [summed(tenant, 24, days)]),
      ...(hours.length === 0 ? [] : [summed(tenant, 1, hours)]),
      single(tenant, activities),
      stored(tenant, span),
    ].reduce((all, part) => sql`${all} union all ${part}`, sql`(${summed(tenant, 1, [])})`);

  return {
    /** What a tenant has used: the totals, and a page of the rows. */
    async read(tenant: string, span: Span, grouping: Grouping, { limit, offset, after }: Page): Promise<Report> {
      const parts = partsOf(tenant, span, await spansNow(span));
      const used = (Object.keys(columnOf) as Figure[])
        .filter((figure) => divides(grouping, figure))
        .reduce<Fragment>((all, figure) => sql`${all} or ${sql(columnOf[figure])} <> 0`, sql`false`);
      const [flag = "0", last = ""] = after ?? [];
      const behind = after === null ? sql`true` : sql`(key is null, coalesce(key, '')) > (${flag === "1"}, ${last})`;
      const rows = await sql<(SummedRow & { is_total: boolean })[]>`
        with parts as (${parts}),
        sums as materialized (
          select grouping(key) = 1 as is_total, key collate "C" as key,
            coalesce(sum(executions), 0) as executions, coalesce(sum(tool_calls), 0) as tool_calls,
            coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
            coalesce(sum(cost), 0) as cost, coalesce(sum(sandbox_ms), 0) as sandbox_ms,
            coalesce(sum(host_commands), 0) as host_commands, coalesce(sum(bytes), 0) as bytes
          from (select ${key(grouping)} as key, executions, tool_calls, input_tokens, output_tokens, cost, sandbox_ms,
              host_commands, bytes from parts) as keyed
          group by grouping sets ((key), ()))
        select * from sums where is_total
        union all (
          select * from sums where not is_total and (key is not null or ${used}) and ${behind}
          order by key is null, key limit ${limit + 1} offset ${offset})`;
      const totals = rows.find(({ is_total }) => is_total);
      if (totals === undefined) throw new Error("usage has no totals");
      return { totals, rows: rows.filter(({ is_total }) => !is_total) };
    },
  };
}
