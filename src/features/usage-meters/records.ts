/** What is to be told to meters: put down once for each hour that is summed up, taken by one node at a time. */
import { type Figure, type Figures, figuresOf, type Sums } from "../../../actors/usage/figures.ts";
import { type Meters, meterValue, pauseAfter, retriedForMs } from "../../../actors/usage/meters.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { customersAtProvider } from "../billing/port.ts";

/** One figure of one hour of a tenant. */
export interface Push {
  readonly tenant: string;
  readonly figure: Figure;
  readonly hour: Date;
  readonly value: string;
  readonly customer_id: string;
  /** This one included. */
  readonly attempts: number;
}

export type Pushes = ReturnType<typeof pushRecords>;

/** Hours of one round, where none were put down for long. */
const mostHours = 24;
/** Hours that are older are not made up for, days: the provider takes none of more than 35. */
const oldestDays = 30;
/** What a node has taken is another one's after this, ms: more than an attempt takes. */
const leaseMs = 120_000;
const keptDays = 40;

export function pushRecords(sql: Sql) {
  return {
    /** Puts down the next hours that are summed up. @returns whether there may be more */
    note: (meters: Meters): Promise<boolean> =>
      sql.begin(async (tx) => {
        const [mark] = await tx<{ from: Date; to: Date }[]>`
          select f.start as from, least(hours_until, f.start + ${mostHours} * interval '1 hour') as to
          from usage_progress, lateral (select greatest(coalesce(pushed_until, hours_until - interval '1 hour'),
            hours_until - ${oldestDays} * interval '1 day') as start) f
          for update of usage_progress skip locked`;
        if (mark === undefined || mark.from >= mark.to) return false;
        const { from, to } = mark;
        const rows = await tx<(Sums & { tenant: string; customer_id: string; hour: Date })[]>`
          with customers as (${customersAtProvider(tx)}),
          used as (
            select c.tenant, c.customer_id, s.start as hour, s.executions, s.tool_calls, s.input_tokens, s.output_tokens,
              s.cost, s.sandbox_ms, s.host_commands, 0::bigint as bytes
            from customers c join usage_sums s
              on s.tenant = c.tenant and s.hours = 1 and s.start >= ${from} and s.start < ${to}
            union all
            select c.tenant, c.customer_id, v.hour, 0, 0, 0, 0, 0, 0, 0, v.bytes
            from customers c join usage_storage v on v.tenant = c.tenant and v.hour >= ${from} and v.hour < ${to})
          select tenant, customer_id, hour, sum(executions) as executions, sum(tool_calls) as tool_calls,
            sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cost) as cost,
            sum(sandbox_ms) as sandbox_ms, sum(host_commands) as host_commands, sum(bytes) as bytes
          from used group by tenant, customer_id, hour`;
        const told = rows.flatMap(({ tenant, customer_id, hour, ...sums }) =>
          valuesOf(meters, figuresOf(sums, null, true)).map(([figure, value]) => ({
            ...{ tenant, figure, hour: hour.toISOString(), value, customer_id },
          })),
        );
        await tx`
          insert into usage_pushes (tenant, figure, hour, value, customer_id)
          select tenant, figure, hour, value, customer_id
          from json_to_recordset(${JSON.stringify(told)}::text::json)
            as r (tenant text, figure text, hour timestamptz, value text, customer_id text)
          on conflict do nothing`;
        await tx`update usage_progress set pushed_until = ${to}`;
        return true;
      }),

    /** Takes what is due and may be pushed still, for an attempt. */
    take: (meters: Meters, limit: number): Promise<Push[]> =>
      sql<Push[]>`
        update usage_pushes set attempts = attempts + 1, first_at = coalesce(first_at, clock_timestamp()),
          due_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        where ctid = any(array(
          select ctid from usage_pushes
          where state = 'due' and due_at <= clock_timestamp() and figure = any(${texts(Object.keys(meters))}::text[])
            and (first_at is null or first_at > clock_timestamp() - ${retriedForMs} * interval '1 millisecond')
          order by due_at limit ${limit} for update skip locked))
        returning tenant, figure, hour, value, customer_id, attempts`,

    async pushed({ tenant, figure, hour }: Push): Promise<void> {
      await sql`
        update usage_pushes set state = 'pushed' where tenant = ${tenant} and figure = ${figure} and hour = ${hour}`;
    },

    async failed({ tenant, figure, hour, attempts }: Push): Promise<void> {
      await sql`
        update usage_pushes set due_at = clock_timestamp() + ${pauseAfter(attempts)} * interval '1 millisecond'
        where tenant = ${tenant} and figure = ${figure} and hour = ${hour} and state = 'due'`;
    },

    /** Gives up what may not be tried again. @returns what that was */
    giveUp: (): Promise<Push[]> =>
      sql<Push[]>`
        update usage_pushes set state = 'failed'
        where ctid = any(array(
          select ctid from usage_pushes
          where state = 'due' and first_at <= clock_timestamp() - ${retriedForMs} * interval '1 millisecond'
            and due_at <= clock_timestamp()
          limit 1000 for update skip locked))
        returning tenant, figure, hour, value, customer_id, attempts`,

    /** Also what no node has a meter for any more. */
    async erase(): Promise<void> {
      await sql`
        delete from usage_pushes where ctid = any(array(
          select ctid from usage_pushes where hour < clock_timestamp() - ${keptDays} * interval '1 day' limit 2000))`;
    },
  };
}

function valuesOf(meters: Meters, sums: Figures): [Figure, string][] {
  return (Object.keys(meters) as Figure[]).flatMap((figure): [Figure, string][] => {
    const value = meterValue(sums[figure] ?? 0);
    return value === null ? [] : [[figure, value]];
  });
}
