/** The SQL of approvals, tenant first. */
import type { Fragment } from "postgres";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql } from "../../store/postgres/pool.ts";

export interface PendingFilter {
  readonly executionId: string | null;
  /** Those of its sub-workflows as well; it must be the root of them. */
  readonly descendants: boolean;
  readonly workflowName: string | null;
  readonly kind: string | null;
}

export interface HistoryFilter {
  readonly statuses: readonly string[] | null;
  readonly executionId: string | null;
  readonly workflowName: string | null;
  /** A subject or an address. */
  readonly decidedBy: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
}

export interface ListRow {
  readonly approval_id: string;
  /** What the list is sorted by. */
  readonly at: Date;
  /** JSON, ready to be sent. */
  readonly document: string;
}

/** Part of a list: a page ends early rather than grow beyond `maxPageBytes`. */
export interface Listed {
  readonly rows: readonly ListRow[];
  readonly hasMore: boolean;
}

/** A pending approval whose time has passed, or a decided one that is to go; of any tenant. */
export interface SweepRow {
  readonly approval_id: string;
  readonly tenant: string;
  /** The time that it is found by; as text, since JavaScript's milliseconds are too coarse to go on from. */
  readonly position: string;
}

/** As the index `approvals_waiting_calls` has it. */
const isWaitingCall = "(kind || ' ' || status) = 'tool_call pending'";

/** Below every id. */
const noId = "00000000-0000-0000-0000-000000000000";

const maxPageBytes = 8_388_608;

export type ApprovalRecords = ReturnType<typeof approvalRecords>;

export function approvalRecords(sql: Sql) {
  /** Of the rows asked for, as many as fit a page. */
  async function page(rows: Fragment, order: Fragment, { limit }: Page): Promise<Listed> {
    const found = await sql<(ListRow & { readonly total: number })[]>`
      select approval_id, at, document, total from (
        select *, (count(*) over ())::int as total, row_number() over (order by ${order}) as place,
          sum(document_bytes) over (order by ${order} rows unbounded preceding) as bytes
        from (${rows} limit ${limit + 1}) as wanted
      ) as counted
      where bytes <= ${maxPageBytes} or place = 1 order by place`;
    const fitting = found.slice(0, limit);
    return { rows: fitting, hasMore: (found[0]?.total ?? 0) > fitting.length };
  }

  /**
   * Approvals of a run, read before anything else is asked of them: those are few, and while the table has no statistics
   * the indexes of lists of the whole tenant seem to cost no more.
   */
  const ofRun = (tenant: string, run: string, descendants: boolean) => sql`(
    select * from approvals
    where tenant = ${tenant} and ${descendants ? sql`(run_id = ${run} or root_run_id = ${run})` : sql`run_id = ${run}`}
    offset 0) as of_run`;

  return {
    /** Open ones whose time has not passed, oldest first. */
    async pending(tenant: string, filter: PendingFilter, wanted: Page, now: Date): Promise<Listed> {
      const conditions = [sql`tenant = ${tenant} and status = 'pending' and expires_at > ${now}`];
      const { executionId, descendants, workflowName, kind } = filter;
      const from = executionId === null ? sql`approvals` : ofRun(tenant, executionId, descendants);
      if (workflowName !== null) conditions.push(sql`workflow_name = ${workflowName}`);
      if (kind !== null) conditions.push(sql`kind = ${kind}`);
      const after = positionOf(wanted);
      if (after === "none") return nothing;
      if (after !== null) conditions.push(sql`(created_at, approval_id) > (${after.at}, ${after.id}::uuid)`);
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      return page(
        sql`
          select approval_id, created_at as at, document, document_bytes from ${from} where ${where}
          order by created_at, approval_id offset ${wanted.offset}`,
        sql`at, approval_id`,
        wanted,
      );
    },

    /** Decided ones, the latest decision first. */
    async decided(tenant: string, filter: HistoryFilter, wanted: Page): Promise<Listed> {
      const conditions = [sql`tenant = ${tenant} and status <> 'pending'`, ...conditionsOf(sql, filter)];
      const from = filter.executionId === null ? sql`approvals` : ofRun(tenant, filter.executionId, false);
      const after = positionOf(wanted);
      if (after === "none") return nothing;
      if (after !== null) conditions.push(sql`(decided_at, approval_id) < (${after.at}, ${after.id}::uuid)`);
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      // Of each alternative as many as the list may need, so that an index gives them in order.
      const parts = alternativesOf(sql, filter).map(
        (alternative) => sql`(
          select approval_id, decided_at, document, document_bytes from ${from} where ${where} ${alternative}
          order by decided_at desc, approval_id desc limit ${wanted.offset + wanted.limit + 1})`,
      );
      return page(
        sql`
          select approval_id, decided_at as at, document, document_bytes
          from (${parts.reduce((all, one) => sql`${all} union all ${one}`)}) as found
          order by decided_at desc, approval_id desc offset ${wanted.offset}`,
        sql`at desc, approval_id desc`,
        wanted,
      );
    },

    /** The pending object as JSON; null when it is unknown, foreign, decided or overdue. */
    async open(tenant: string, approvalId: string, now: Date): Promise<string | null> {
      const [row] = await sql<{ document: string }[]>`
        select document from approvals
        where approval_id = ${approvalId} and tenant = ${tenant} and status = 'pending' and expires_at > ${now}`;
      return row?.document ?? null;
    },

    /** How many calls of tools people are asked about now, as far as 1,000. */
    async askedCalls(tenant: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from (
          select 1 from approvals where tenant = ${tenant} and ${sql.unsafe(isWaitingCall)} limit 1000) asked`;
      return row?.count ?? 0;
    },

    /** What the latest decided approval of an execution came to; null when there is none. */
    async lastDecision(tenant: string, executionId: string): Promise<{ status: string; decided_at: Date } | null> {
      const [row] = await sql<{ status: string; decided_at: Date }[]>`
        select status, decided_at from ${ofRun(tenant, executionId, false)}
        where status <> 'pending' and decided_at is not null
        order by decided_at desc, approval_id desc limit 1`;
      return row ?? null;
    },

    /** Tool calls that wait: of one execution, and of the tenant, of which no more than `most` are counted. */
    async waitingCalls(tenant: string, executionId: string, most: number) {
      const [row] = await sql<{ execution: number; tenant: number }[]>`
        select
          (select count(*)::int from ${ofRun(tenant, executionId, false)}
            where status = 'pending' and kind = 'tool_call') as execution,
          (select count(*)::int from (select from approvals
            where tenant = ${tenant} and ${sql.unsafe(isWaitingCall)} limit ${most}) as counted) as tenant`;
      return row ?? { execution: 0, tenant: 0 };
    },

    /** Whose a link is, by the hash of its token: no tenant is known before. */
    async ofLink(hash: string): Promise<SweepRow | null> {
      const [row] = await sql<SweepRow[]>`select approval_id, tenant from approval_links where hash = ${hash}`;
      return row ?? null;
    },

    /** Ids of a tenant's, of any status. */
    async ofTenant(tenant: string, limit: number): Promise<string[]> {
      const rows = await sql<{ approval_id: string }[]>`
        select approval_id from approvals where tenant = ${tenant} limit ${limit}`;
      return rows.map((row) => row.approval_id);
    },

    /** Pending ones of any tenant whose time passed before a moment. */
    overdue(time: Date, after: SweepRow | null, limit: number): Promise<SweepRow[]> {
      return sql<SweepRow[]>`
        select approval_id, tenant, expires_at::text as position from approvals
        where status = 'pending' and expires_at < ${time} and expires_at >= ${after?.position ?? "-infinity"}::text::timestamptz
          and (expires_at, approval_id) > (${after?.position ?? "-infinity"}::text::timestamptz, ${after?.approval_id ?? noId}::text::uuid)
        order by expires_at, approval_id limit ${limit}`;
    },

    /** Those of any tenant that were decided before a moment. */
    decidedBefore(time: Date, after: SweepRow | null, limit: number): Promise<SweepRow[]> {
      return sql<SweepRow[]>`
        select approval_id, tenant, decided_at::text as position from approvals
        where status <> 'pending' and decided_at < ${time} and decided_at >= ${after?.position ?? "-infinity"}::text::timestamptz
          and (decided_at, approval_id) > (${after?.position ?? "-infinity"}::text::timestamptz, ${after?.approval_id ?? noId}::text::uuid)
        order by decided_at, approval_id limit ${limit}`;
    },
  };
}

const nothing: Listed = { rows: [], hasMore: false };

/** Null: from the start. A cursor that was tampered with finds nothing. */
function positionOf({ after }: Page): { readonly at: Date; readonly id: string } | null | "none" {
  if (after === null) return null;
  const [at = "", id = ""] = after;
  return /^\d{1,14}$/.test(at) && isUuid(id) ? { at: new Date(Number(at)), id } : "none";
}

function conditionsOf(sql: Sql, filter: HistoryFilter): Fragment[] {
  const conditions: Fragment[] = [];
  const { workflowName, from, to } = filter;
  if (workflowName !== null) conditions.push(sql`workflow_name = ${workflowName}`);
  if (from !== null) conditions.push(sql`decided_at >= ${from}`);
  if (to !== null) conditions.push(sql`decided_at <= ${to}`);
  return conditions;
}

/** The filters that several values fulfil, as conditions of which a row fulfils one at most. */
function alternativesOf(sql: Sql, { statuses, decidedBy }: HistoryFilter): Fragment[] {
  const byStatus = statuses === null ? [sql``] : [...new Set(statuses)].map((status) => sql`and status = ${status}`);
  if (decidedBy === null) return byStatus;
  const email = decidedBy.toLowerCase();
  return byStatus.flatMap((status) => [
    sql`${status} and decided_sub = ${decidedBy}`,
    sql`${status} and decided_email = ${email} and decided_sub is distinct from ${decidedBy}`,
  ]);
}
