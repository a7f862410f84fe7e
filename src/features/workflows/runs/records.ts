/** The SQL of the table `workflow_runs`, tenant first. */
import type { Fragment } from "postgres";
import { workflowRunProtocol } from "../../../../actors/workflow/run/messages.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { countsOf } from "../../../runtime/reads/counters.ts";
import { begunAt, type CountPieces, numberOf, type PieceCount, withTenants } from "../../../runtime/reads/spans.ts";
import { ofEachStatus } from "../../../runtime/reads/statuses.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { OldRow, SweepRow } from "../../executions/port.ts";

/** Null: any. */
export interface RunFilter {
  readonly workflowId: string | null;
  readonly workflowName: string | null;
  readonly statuses: readonly string[] | null;
  readonly parentRunId: string | null;
  readonly scheduleId: string | null;
  readonly startedAfter: Date | null;
  readonly startedBefore: Date | null;
}

/** Where a run stands in a list. */
export interface RunRow {
  readonly run_id: string;
  /** Unix microseconds as text: JavaScript's milliseconds are too coarse to go on from. */
  readonly position: string;
}

export interface MigratableFilter {
  /** Id of the version that the runs are to go on in. */
  readonly except: string;
  readonly ids: readonly string[] | null;
  readonly startedBefore: Date | null;
  /** Null: from the newest on. */
  readonly after: RunRow | null;
  readonly limit: number;
}

export interface Unfinished {
  readonly run_id: string;
  readonly tenant: string;
}

export type RunRecords = ReturnType<typeof createRunRecords>;

/** Runs that were started in a span and have ended. */
export const countEnded: CountPieces = (query, tenant, { from, to }, pieceMs) => query<PieceCount[]>`
  ${withTenants(query, "workflow_runs", tenant)}
  select ${numberOf(query, query`r.begun`, pieceMs)} as piece, r.status, count(*)::int as count
  from tenants cross join lateral (
    -- By an index that has them all, so that no row is read.
    select status, ${begunAt(query, "started_at", pieceMs)} as begun from workflow_runs
    where tenant = tenants.tenant and ended_at is not null and started_at >= ${from} and started_at < ${to}
      and status in ('completed', 'failed', 'cancelled', 'timed_out')) r
  group by r.begun, r.status`;

/** Those that have not. */
export const countOpen: CountPieces = (query, tenant, { from, to }, pieceMs) => query<PieceCount[]>`
  ${withTenants(query, "workflow_runs", tenant)}
  select ${numberOf(query, query`r.begun`, pieceMs)} as piece, r.status, count(*)::int as count
  from tenants cross join lateral (
    select status, ${begunAt(query, "started_at", pieceMs)} as begun from workflow_runs
    where tenant = tenants.tenant and ended_at is null and started_at >= ${from} and started_at < ${to}) r
  group by r.begun, r.status`;

/** Below every id. */
const noId = "00000000-0000-0000-0000-000000000000";

export function createRunRecords(sql: Sql) {
  return {
    /** Newest first; one row more than the page asks for when there are more. */
    async list(tenant: string, filter: RunFilter, { limit, offset, after }: Page): Promise<RunRow[]> {
      const conditions = [sql`tenant = ${tenant}`, ...conditionsOf(sql, filter)];
      if (after !== null) {
        const [position = "", id = ""] = after;
        // A cursor that was tampered with finds nothing.
        if (!/^\d{1,18}$/.test(position) || !isUuid(id)) return [];
        conditions.push(sql`(started_at, run_id) <
          (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      return sql<RunRow[]>`
        select run_id, (extract(epoch from started_at) * 1000000)::bigint::text as position
        from (${ofEachStatus(
          sql,
          filter.statuses,
          (status) => sql`
          select run_id, started_at from workflow_runs where ${where} ${status}
          order by started_at desc, run_id desc limit ${offset + limit + 1}`,
        )}) as found
        order by started_at desc, run_id desc limit ${limit + 1} offset ${offset}`;
    },

    /** How many runs the tenant has of each; those it never ran are left out. */
    countByWorkflow: (tenant: string, workflowIds: readonly string[]) =>
      countsOf(sql, workflowRunProtocol.kind, tenant, workflowIds),

    /** Runs of all generations below one, ended or not, those of items of Maps apart; never more than `most`. */
    async countBelow(tenant: string, runId: string, most: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        with recursive below as (
          select run_id from workflow_runs where parent_run_id = ${runId} and tenant = ${tenant}
          union all
          select w.run_id from workflow_runs w join below b on w.parent_run_id = b.run_id)
        select count(*)::int as count from (
          select from below b where not exists (
            select from workflow_items i where i.execution_id = b.run_id and i.tenant = ${tenant})
          limit ${most}) few`;
      return row?.count ?? 0;
    },

    /** Executions that have not ended, started in any tenant: a global workflow runs in many tenants. */
    unfinishedOf(workflowIds: readonly string[], limit: number | null = null): Promise<Unfinished[]> {
      return sql<Unfinished[]>`
        select run_id, tenant from workflow_runs
        where workflow_id = any(${texts(workflowIds)}::text[]::uuid[]) and ended_at is null limit ${limit}`;
    },

    /**
     * Runs of a workflow that have not ended, of other versions than one, newest first.
     * @param ids those alone, of any version; null: all
     */
    async migratable(
      tenant: string,
      name: string,
      { except, ids, startedBefore, after, limit }: MigratableFilter,
    ): Promise<RunRow[]> {
      const among =
        ids === null ? sql`and workflow_id <> ${except}` : sql`and run_id = any(${texts(ids)}::text[]::uuid[])`;
      const before = startedBefore === null ? sql`` : sql`and started_at < ${startedBefore}`;
      const next =
        after === null
          ? sql``
          : sql`and (started_at, run_id) <
              (timestamptz 'epoch' + ${after.position}::text::bigint * interval '1 microsecond', ${after.run_id}::uuid)`;
      return sql<RunRow[]>`
        select run_id, (extract(epoch from started_at) * 1000000)::bigint::text as position from workflow_runs
        where tenant = ${tenant} and workflow_name = ${name} and ended_at is null ${among} ${before} ${next}
        order by started_at desc, run_id desc limit ${limit}`;
    },

    /** Ids of a tenant's runs, the newest first. @param isUnderWay those alone that have not ended */
    async ofTenant(
      tenant: string,
      { isUnderWay, limit }: { readonly isUnderWay: boolean; readonly limit: number },
    ): Promise<string[]> {
      const rows = await sql<{ run_id: string }[]>`
        select run_id from workflow_runs where tenant = ${tenant} ${isUnderWay ? sql`and ended_at is null` : sql``}
        order by started_at desc, run_id desc limit ${limit}`;
      return rows.map((row) => row.run_id);
    },

    /** How many have not ended, by status, of all tenants together. */
    countUnfinished(): Promise<{ status: string; count: number }[]> {
      return sql<{ status: string; count: number }[]>`
        select status, count(*)::int as count from workflow_runs where ended_at is null group by status`;
    },

    /** Of the given ids, those that exist, of any tenant, child records of items included: for what this host holds. */
    known(runIds: readonly string[]): Promise<SweepRow[]> {
      return sql<SweepRow[]>`
        select run_id as id, tenant, ended_at from workflow_runs
        where run_id = any(${texts(runIds)}::text[]::uuid[])
        union all
        select batch_id, tenant, null from workflow_batches where batch_id = any(${texts(runIds)}::text[]::uuid[])`;
    },

    /** Runs of any tenant that ended before a time. */
    endedBefore(time: Date, after: OldRow | null, limit: number): Promise<OldRow[]> {
      const since = after?.position ?? "-infinity";
      return sql<OldRow[]>`
        select run_id as id, tenant, ended_at::text as position from workflow_runs
        where ended_at < ${time} and ended_at >= ${since}::text::timestamptz
          and (ended_at, run_id) > (${since}::text::timestamptz, ${after?.id ?? noId}::text::uuid)
        order by ended_at, run_id limit ${limit}`;
    },
  };
}

function conditionsOf(sql: Sql, filter: RunFilter): Fragment[] {
  const conditions: Fragment[] = [];
  if (filter.workflowId !== null) conditions.push(sql`workflow_id = ${filter.workflowId}`);
  if (filter.workflowName !== null) conditions.push(sql`workflow_name = ${filter.workflowName}`);
  if (filter.parentRunId !== null) conditions.push(sql`parent_run_id = ${filter.parentRunId}`);
  if (filter.scheduleId !== null) conditions.push(sql`schedule_id = ${filter.scheduleId}`);
  if (filter.startedAfter !== null) conditions.push(sql`started_at > ${filter.startedAfter}`);
  if (filter.startedBefore !== null) conditions.push(sql`started_at < ${filter.startedBefore}`);
  return conditions;
}
