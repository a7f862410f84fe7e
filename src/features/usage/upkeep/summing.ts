/**
 * Sums of whole hours and whole days, made from activities once those can get no more: what is stored is stamped with
 * PostgreSQL's time, and no statement of the service takes as long as is waited for. Each hour is summed up once, by one
 * node, in the transaction that moves the mark on; so are days, from their hours.
 */
import type { Fragment } from "postgres";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

/** From the end of an hour until it is summed up, minutes. */
const settlesMinutes = 5;
/** Hours that one transaction sums up, where none were for long. */
const mostHours = 24;
const mostDays = 7;

interface Mark {
  readonly from: Date;
  readonly to: Date;
}

/** @returns whether something was summed up: there may be more */
export async function sumUp(sql: Sql): Promise<boolean> {
  const hours = await sql.begin(sumHours);
  const days = await sql.begin(sumDays);
  return hours || days;
}

/** The tenants that a table has rows of, each found by its index. */
const tenantsOf = (tx: Transaction, table: "usage_activities" | "usage_sums"): Fragment => tx`
  recursive tenants (tenant) as (
    (select tenant from ${tx(table)} order by tenant limit 1)
    union all
    select (select t.tenant from ${tx(table)} t where t.tenant > tenants.tenant order by t.tenant limit 1)
    from tenants where tenants.tenant is not null)`;

async function sumHours(tx: Transaction): Promise<boolean> {
  const [mark] = await tx<Mark[]>`
    select hours_until as from, least(hours_until + ${mostHours} * interval '1 hour',
      date_trunc('hour', clock_timestamp() - ${settlesMinutes} * interval '1 minute', 'UTC')) as to
    from usage_progress for update skip locked`;
  if (mark === undefined || mark.from >= mark.to) return false;
  const { from, to } = mark;
  await tx`
    with ${tenantsOf(tx, "usage_activities")}
    insert into usage_sums (tenant, hours, start, agent_id, model, workflow, tool, executions, tool_calls, input_tokens,
      output_tokens, cost, sandbox_ms, host_commands)
    select t.tenant, 1, s.* from tenants t cross join lateral (
      select date_trunc('hour', at, 'UTC') as start, agent_id, model, workflow, tool, count(*) filter (where kind = 1),
        count(*) filter (where kind = 3), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
        coalesce(sum(cost), 0), coalesce(sum(duration_ms), 0), count(*) filter (where kind = 5)
      from usage_activities u where u.tenant = t.tenant and u.at >= ${from} and u.at < ${to}
      group by 1, agent_id, model, workflow, tool) s
    where t.tenant is not null`;
  await tx`update usage_progress set hours_until = ${to}`;
  return true;
}

async function sumDays(tx: Transaction): Promise<boolean> {
  const [mark] = await tx<Mark[]>`
    select days_until as from,
      least(days_until + ${mostDays} * interval '1 day', date_trunc('day', hours_until, 'UTC')) as to
    from usage_progress for update skip locked`;
  if (mark === undefined || mark.from >= mark.to) return false;
  const { from, to } = mark;
  await tx`
    with ${tenantsOf(tx, "usage_sums")}
    insert into usage_sums (tenant, hours, start, agent_id, model, workflow, tool, executions, tool_calls, input_tokens,
      output_tokens, cost, sandbox_ms, host_commands)
    select t.tenant, 24, s.* from tenants t cross join lateral (
      select date_trunc('day', start, 'UTC') as day, agent_id, model, workflow, tool, sum(executions), sum(tool_calls),
        sum(input_tokens), sum(output_tokens), sum(cost), sum(sandbox_ms), sum(host_commands)
      from usage_sums h where h.tenant = t.tenant and h.hours = 1 and h.start >= ${from} and h.start < ${to}
      group by 1, agent_id, model, workflow, tool) s
    where t.tenant is not null`;
  await tx`update usage_progress set days_until = ${to}`;
  return true;
}
