/** The SQL of the table `executions`, tenant first. */
import type { Fragment } from "postgres";
import { executionProtocol } from "../../../actors/execution/messages.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import { countsOf } from "../../runtime/reads/counters.ts";
import { begunAt, type CountPieces, numberOf, type PieceCount, withTenants } from "../../runtime/reads/spans.ts";
import { ofEachStatus } from "../../runtime/reads/statuses.ts";
import { texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";

export interface ListFilter {
  readonly agentId: string | null;
  readonly statuses: readonly string[] | null;
  readonly workflowName: string | null;
  readonly workflowExecutionId: string | null;
  readonly parentExecutionId: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly startedAfter: Date | null;
  readonly startedBefore: Date | null;
}

/** Where an execution stands in a list. */
export interface ListRow {
  readonly execution_id: string;
  /** Unix microseconds as text: JavaScript's milliseconds are too coarse to go on from. */
  readonly position: string;
}

/** What the sweeps need to know of an execution or a workflow run, of any tenant. */
export interface SweepRow {
  readonly id: string;
  readonly tenant: string;
  readonly ended_at: Date | null;
}

/** What is past its retention; the time as text, since JavaScript's milliseconds are too coarse to go on from. */
export interface OldRow {
  readonly id: string;
  readonly tenant: string;
  readonly position: string;
}

/** Executions that were made in a span and have ended. */
export const countEnded: CountPieces = (query, tenant, { from, to }, pieceMs) => query<PieceCount[]>`
  ${withTenants(query, "executions", tenant)}
  select ${numberOf(query, query`e.begun`, pieceMs)} as piece, e.status, count(*)::int as count
  from tenants cross join lateral (
    -- By an index that has them all, so that no row is read.
    select status, ${begunAt(query, "created_at", pieceMs)} as begun from executions
    where tenant = tenants.tenant and ended_at is not null and created_at >= ${from} and created_at < ${to}
      and status in ('completed', 'failed', 'cancelled', 'timed_out')) e
  group by e.begun, e.status`;

/** Those that have not. */
export const countOpen: CountPieces = (query, tenant, { from, to }, pieceMs) => query<PieceCount[]>`
  ${withTenants(query, "executions", tenant)}
  select ${numberOf(query, query`e.begun`, pieceMs)} as piece, e.status, count(*)::int as count
  from tenants cross join lateral (
    select status, ${begunAt(query, "created_at", pieceMs)} as begun from executions
    where tenant = tenants.tenant and ended_at is null and created_at >= ${from} and created_at < ${to}) e
  group by e.begun, e.status`;

/** Below every id. */
const noId = "00000000-0000-0000-0000-000000000000";

/** An execution whose logs are to be trimmed; the time as text, since JavaScript's milliseconds are too coarse. */
export interface TrimRow {
  readonly id: string;
  readonly ended_until: string;
}

export type ExecutionRecords = ReturnType<typeof executionRecords>;

export function executionRecords(sql: Sql) {
  return {
    /** Newest first; one row more than the page asks for when there are more. */
    async list(tenant: string, filter: ListFilter, { limit, offset, after }: Page): Promise<ListRow[]> {
      const byLabel = await isFoundByLabel(sql, tenant, filter);
      // Where the list's order comes from.
      const [created, id] = byLabel
        ? [sql`l.created_at`, sql`l.execution_id`]
        : [sql`e.created_at`, sql`e.execution_id`];
      const conditions = [...labelConditions(sql, tenant, filter, byLabel), ...conditionsOf(sql, filter)];
      if (after !== null) {
        const [position = "", afterId = ""] = after;
        // A cursor that was tampered with finds nothing.
        if (!/^\d{1,18}$/.test(position) || !isUuid(afterId)) return [];
        conditions.push(sql`(${created}, ${id}) <
          (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${afterId}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`, sql`e.tenant = ${tenant}`);
      const from = byLabel ? sql`execution_labels l join executions e using (execution_id)` : sql`executions e`;
      return sql<ListRow[]>`
        select execution_id, (extract(epoch from created_at) * 1000000)::bigint::text as position
        from (${ofEachStatus(sql, filter.statuses, (status) =>
          startAlternatives(sql, filter)
            .map(
              (start) => sql`(
          select ${id}, ${created} from ${from} where ${where} ${status} ${start}
          order by ${created} desc, ${id} desc limit ${offset + limit + 1})`,
            )
            .reduce((all, one) => sql`${all} union all ${one}`),
        )}) as found
        order by created_at desc, execution_id desc limit ${limit + 1} offset ${offset}`;
    },

    /** How many executions the tenant has of each agent; those it never ran are left out. */
    countByAgent: (tenant: string, agentIds: readonly string[]) =>
      countsOf(sql, executionProtocol.kind, tenant, agentIds),

    /** Executions of an agent that have not ended, started in any tenant: a global agent runs in many tenants. */
    unfinishedOf(agentId: string): Promise<{ execution_id: string; tenant: string }[]> {
      return sql<{ execution_id: string; tenant: string }[]>`
        select execution_id, tenant from executions where agent_id = ${agentId} and ended_at is null`;
    },

    /** Ids of a tenant's executions, the newest first. @param isUnderWay those alone that have not ended */
    async ofTenant(
      tenant: string,
      { isUnderWay, limit }: { readonly isUnderWay: boolean; readonly limit: number },
    ): Promise<string[]> {
      const rows = await sql<{ execution_id: string }[]>`
        select execution_id from executions where tenant = ${tenant} ${isUnderWay ? sql`and ended_at is null` : sql``}
        order by created_at desc, execution_id desc limit ${limit}`;
      return rows.map((row) => row.execution_id);
    },

    /** What the tenant has under way, and of the given executions those that have ended. */
    underWay(tenant: string, executionIds: readonly string[]): Promise<{ execution_id: string; live: boolean }[]> {
      return sql<{ execution_id: string; live: boolean }[]>`
        select execution_id, true as live from executions where tenant = ${tenant} and ended_at is null
        union all
        select execution_id, false from executions
        where execution_id = any(${texts(executionIds)}::text[]::uuid[]) and tenant = ${tenant} and ended_at is not null`;
    },

    /** How many the tenant has pending or running, as its quota counts them. */
    async countUnderWay(tenant: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from executions where tenant = ${tenant} and ended_at is null`;
      return row?.count ?? 0;
    },

    /** How many executions have not ended, by status, of all tenants together. */
    async countUnfinished(): Promise<{ status: string; count: number }[]> {
      return sql<{ status: string; count: number }[]>`
        select status, count(*)::int as count from executions where ended_at is null group by status`;
    },

    /** Agents that have executions which have not ended, of any tenant. */
    async agentsAtWork(): Promise<string[]> {
      const rows = await sql<{ agent_id: string }[]>`select distinct agent_id from executions where ended_at is null`;
      return rows.map((row) => row.agent_id);
    },

    /** Of the given ids, those that exist, of any tenant: for what this host holds. */
    known(executionIds: readonly string[]): Promise<SweepRow[]> {
      return sql<SweepRow[]>`
        select execution_id as id, tenant, ended_at from executions where execution_id = any(${[...executionIds]}::uuid[])`;
    },

    /**
     * Executions of any tenant that ended before a time and whose logs are not trimmed yet, the oldest first: `limit`,
     * and all that ended in the same moment as the last.
     */
    toTrim(before: Date, limit: number): Promise<TrimRow[]> {
      return sql<TrimRow[]>`
        select execution_id as id, ended_at::text as ended_until from executions
        where ended_at > (select ended_until from execution_trimming) and ended_at < ${before}
        order by ended_at fetch first (${limit}::int) rows with ties`;
    },

    /** Notes that the logs of all that ended up to this time are trimmed. */
    async noteTrimmed(endedUntil: string): Promise<void> {
      await sql`update execution_trimming set ended_until = greatest(ended_until, ${endedUntil}::text::timestamptz)`;
    },

    /** Executions of any tenant that ended before a time, the oldest first: those behind the given one. */
    endedBefore(time: Date, after: OldRow | null, limit: number): Promise<OldRow[]> {
      const since = after?.position ?? "-infinity";
      return sql<OldRow[]>`
        select execution_id as id, tenant, ended_at::text as position from executions
        where ended_at < ${time} and ended_at >= ${since}::text::timestamptz
          and (ended_at, execution_id) > (${since}::text::timestamptz, ${after?.id ?? noId}::text::uuid)
        order by ended_at, execution_id limit ${limit}`;
    },
  };
}

/** A label of more executions than this is not the best way to find those that fulfil other conditions as well. */
const fewLabelled = 1_000;

/** Whether the rows of the first label lead to the executions, and not the other way round. */
async function isFoundByLabel(sql: Sql, tenant: string, filter: ListFilter): Promise<boolean> {
  const [first] = Object.entries(filter.labels);
  if (first === undefined) return false;
  const { agentId, statuses, workflowName, workflowExecutionId, parentExecutionId } = filter;
  if ([agentId, statuses, workflowName, workflowExecutionId, parentExecutionId].every((one) => one === null)) {
    return true;
  }
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from execution_labels l where ${hasLabel(sql, tenant, first)}
      order by l.created_at desc limit ${fewLabelled + 1}) few`;
  return (row?.count ?? 0) <= fewLabelled;
}

const hasLabel = (sql: Sql, tenant: string, [name, value]: [string, string]): Fragment =>
  sql`l.tenant = ${tenant} and l.name = ${name} and l.value = ${value}`;

function labelConditions(sql: Sql, tenant: string, { labels }: ListFilter, byLabel: boolean): Fragment[] {
  const all = Object.entries(labels);
  // `offset 0` has each looked up by its whole key, row by row, as the other conditions find them.
  const others = all.slice(byLabel ? 1 : 0).map(
    (label) => sql`exists (
      select from execution_labels l where ${hasLabel(sql, tenant, label)}
        and l.created_at = e.created_at and l.execution_id = e.execution_id offset 0)`,
  );
  const [first] = all;
  return byLabel && first !== undefined ? [hasLabel(sql, tenant, first), ...others] : others;
}

/**
 * A start after some time is looked for among those made after it, or a little before, and apart from them among the few
 * that waited for long: both by an index. As conditions of which a row fulfils one at most.
 */
function startAlternatives(sql: Sql, { startedAfter }: ListFilter): Fragment[] {
  if (startedAfter === null) return [sql``];
  return [
    sql`and e.created_at > ${startedAfter}::timestamptz - interval '15 minutes'
      and e.started_at - e.created_at <= interval '15 minutes'`,
    sql`and e.started_at - e.created_at > interval '15 minutes'`,
  ];
}

function conditionsOf(sql: Sql, filter: ListFilter): Fragment[] {
  const conditions: Fragment[] = [];
  if (filter.agentId !== null) conditions.push(sql`e.agent_id = ${filter.agentId}`);
  if (filter.workflowName !== null) conditions.push(sql`e.workflow_name = ${filter.workflowName}`);
  if (filter.workflowExecutionId !== null) conditions.push(sql`e.workflow_run_id = ${filter.workflowExecutionId}`);
  if (filter.parentExecutionId !== null) conditions.push(sql`e.parent_execution_id = ${filter.parentExecutionId}`);
  if (filter.startedAfter !== null) conditions.push(sql`e.started_at > ${filter.startedAfter}`);
  if (filter.startedBefore !== null) {
    // Nothing starts before it is made, and by that time the list is ordered.
    conditions.push(sql`e.started_at < ${filter.startedBefore} and e.created_at < ${filter.startedBefore}`);
  }
  return conditions;
}
