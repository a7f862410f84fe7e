/** The SQL of fleet runs, tenant first. */
import type { Target } from "../../../../actors/edge/target.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { numbers, texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import { type Resolved, sizesOf } from "./asking/resolution.ts";

/** Unfinished runs of a tenant. */
export const maxRuns = 20;
/** A request whose run has not begun by then has failed, seconds. */
const beginsWithin = 60;
/** Characters of what one page of a list holds. */
const maxPageBytes = 8_388_608;

export interface TargetRow {
  readonly idx: number;
  readonly node_id: string;
  readonly name: string;
  readonly kind: "resolved" | "queued" | "skipped";
  readonly reason: string;
}

export interface RunRow {
  readonly id: string;
  readonly created_at: string;
  readonly doc: string;
  readonly target: string;
  readonly skipped: string;
}

export interface RunsFilter {
  readonly tool: string | null;
  readonly outcome: string | null;
  readonly status: string | null;
}

type Sizes = ReturnType<typeof sizesOf>;
export type RunRecords = ReturnType<typeof runRecords>;

export function runRecords(sql: Sql) {
  const skippedOf = sql`coalesce((
    select json_agg(json_build_object('node_id', t.node_id, 'name', t.name, 'reason', t.reason) order by t.idx)
    from edge_run_targets t
    where t.run_id = r.id and t.kind = 'skipped' and t.resolution = (
      select max(resolution) from edge_run_targets where run_id = r.id)), '[]')::text`;
  const columns = sql`r.id, to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
    r.doc, q.target, ${skippedOf} as skipped`;

  async function sizes(query: Sql | Transaction, runId: string, resolution: number): Promise<Sizes | null> {
    const rows = await query<{ kind: TargetRow["kind"]; count: number }[]>`
      select kind, count(*)::int as count from edge_run_targets
      where run_id = ${runId} and resolution = ${resolution} group by kind`;
    const of = (kind: TargetRow["kind"]): number => rows.find((row) => row.kind === kind)?.count ?? 0;
    if (rows.length === 0) return null;
    return { eligible: of("resolved"), queued: of("queued"), skipped: of("skipped") };
  }

  async function keep(tx: Transaction, tenant: string, runId: string, resolution: number, resolved: Resolved) {
    const { eligible, queued, skipped } = resolved;
    const rows = [
      ...eligible.map((host) => ({ host, kind: "resolved", reason: host.status })),
      ...queued.map((host) => ({ host, kind: "queued", reason: host.status })),
      ...skipped.map(({ host, reason }) => ({ host, kind: "skipped", reason })),
    ];
    await tx`
      insert into edge_run_targets (run_id, tenant, resolution, idx, node_id, name, kind, reason)
      select ${runId}, ${tenant}, ${resolution}, ordinality - 1, node_id, name, kind, reason
      from unnest(${texts(rows.map(({ host }) => host.id))}::uuid[], ${texts(rows.map(({ host }) => host.name))}::text[],
        ${texts(rows.map(({ kind }) => kind))}::text[], ${texts(rows.map(({ reason }) => reason))}::text[])
        with ordinality as t (node_id, name, kind, reason, ordinality)`;
  }

  return {
    /**
     * Stores what a run is asked for and whom it means. Where an attempt at the same run has, that stays.
     * @returns what is stored; null: the tenant has as many unfinished runs as it may
     */
    prepare: (tenant: string, runId: string, resolved: Resolved): Promise<Sizes | null> =>
      sql.begin(async (tx) => {
        await tx`select pg_advisory_xact_lock(hashtextextended(${`edge runs of ${tenant}`}, 0))`;
        const [known] = await tx`select 1 from edge_run_requests where run_id = ${runId} and tenant = ${tenant}`;
        if (known !== undefined) return (await sizes(tx, runId, 0)) ?? { eligible: 0, queued: 0, skipped: 0 };
        const [row] = await tx<{ count: number }[]>`
          select ((select count(*) from edge_runs where tenant = ${tenant} and ended_at is null) + (
            select count(*) from edge_run_requests q
            where q.tenant = ${tenant} and q.created_at > now() - ${beginsWithin} * interval '1 second'
              and not exists (select from edge_runs r where r.id = q.run_id)))::int as count`;
        if ((row?.count ?? 0) >= maxRuns) return null;
        await tx`
          insert into edge_run_requests (run_id, tenant, target)
          values (${runId}, ${tenant}, ${JSON.stringify(resolved.target)})`;
        await keep(tx, tenant, runId, 0, resolved);
        return sizesOf(resolved);
      }) as Promise<Sizes | null>,

    async target(tenant: string, runId: string): Promise<Target | null> {
      const [row] = await sql<{ target: string }[]>`
        select target from edge_run_requests where run_id = ${runId} and tenant = ${tenant}`;
      // Written by `prepare`.
      return row === undefined ? null : (JSON.parse(row.target) as Target);
    },

    /** Hosts that the first resolution names. */
    async named(tenant: string, runId: string): Promise<ReadonlySet<string>> {
      const rows = await sql<{ node_id: string }[]>`
        select node_id from edge_run_targets where run_id = ${runId} and tenant = ${tenant} and resolution = 0`;
      return new Set(rows.map(({ node_id }) => node_id));
    },

    /** Stores whom an approved run means; the first attempt at it counts. */
    approve: (tenant: string, runId: string, resolved: Resolved): Promise<Sizes> =>
      sql.begin(async (tx) => {
        await tx`select from edge_run_requests where run_id = ${runId} and tenant = ${tenant} for update`;
        const known = await sizes(tx, runId, 1);
        if (known !== null) return known;
        await keep(tx, tenant, runId, 1, resolved);
        return sizesOf(resolved);
      }) as Promise<Sizes>,

    approved: (runId: string): Promise<Sizes | null> => sizes(sql, runId, 1),

    /** Targets of a resolution at these places; null: all. */
    targets: (tenant: string, runId: string, resolution: number, places: readonly number[] | null) =>
      sql<TargetRow[]>`
        select idx, node_id, name, kind, reason from edge_run_targets
        where tenant = ${tenant} and run_id = ${runId} and resolution = ${resolution}
          and ${places === null ? sql`true` : sql`idx = any(${numbers(places)}::int[])`}
        order by idx`,

    async one(tenant: string, runId: string): Promise<RunRow | null> {
      const [row] = await sql<RunRow[]>`
        select ${columns} from edge_runs r join edge_run_requests q on q.run_id = r.id
        where r.tenant = ${tenant} and r.id = ${runId}`;
      return row ?? null;
    },

    async exists(tenant: string, runId: string): Promise<boolean> {
      const [row] = await sql`select 1 from edge_runs where tenant = ${tenant} and id = ${runId}`;
      return row !== undefined;
    },

    /** The newest first; a page ends early rather than grow too large. @returns one more where there are more */
    async list(tenant: string, { tool, outcome, status }: RunsFilter, page: Page) {
      const none = { rows: [], hasMore: false };
      const conditions = [sql`r.tenant = ${tenant}`];
      if (tool !== null) conditions.push(sql`r.tool = ${tool}`);
      if (outcome !== null) conditions.push(sql`r.outcome = ${outcome}`);
      if (status !== null) conditions.push(sql`r.status = ${status}`);
      if (page.after !== null) {
        const [at = "", id = ""] = page.after;
        // A cursor that was tampered with finds nothing.
        const time = /^\d{4}-/.test(at) ? new Date(at) : new Date(Number.NaN);
        if (!isUuid(id) || Number.isNaN(time.getTime())) return none;
        conditions.push(sql`(r.created_at, r.id) < (${time}, ${id}::uuid)`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      const found = await sql<(RunRow & { readonly total: number })[]>`
        select ${columns}, total from (
          select *, (count(*) over ())::int as total, row_number() over (order by created_at desc, id desc) as place,
            sum(size) over (order by created_at desc, id desc rows unbounded preceding) as bytes
          from (
            select r.id, r.created_at, r.doc, length(r.doc) + length(w.target) + 120 * (
              select count(*) from edge_run_targets t where t.run_id = r.id and t.kind = 'skipped') as size
            from edge_runs r join edge_run_requests w on w.run_id = r.id where ${where}
            order by r.created_at desc, r.id desc limit ${page.limit + 1} offset ${page.offset}) as wanted
        ) as r join edge_run_requests q on q.run_id = r.id
        where bytes <= ${maxPageBytes} or place = 1 order by place`;
      const rows = found.slice(0, page.limit);
      return { rows: rows as readonly RunRow[], hasMore: (found[0]?.total ?? 0) > rows.length };
    },

    /** Ids of runs of a tenant that have not ended. */
    async open(tenant: string, limit: number): Promise<readonly string[]> {
      const rows = await sql<{ id: string }[]>`
        select id from edge_runs where tenant = ${tenant} and ended_at is null limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    /** Of a tenant, also those that have ended. */
    async all(tenant: string, limit: number): Promise<readonly string[]> {
      const rows = await sql<{ id: string }[]>`select id from edge_runs where tenant = ${tenant} limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    /** Runs of all tenants that have not ended, with why they are paused. */
    unfinished: (after: string, limit: number) =>
      sql<{ id: string; tenant: string; status: string; pause_reasons: string }[]>`
        select id, tenant, status, doc::json ->> 'pause_reasons' as pause_reasons
        from edge_runs where ended_at is null and id > ${after} order by id limit ${limit}`,

    endedBefore: (before: Date, limit: number) =>
      sql<{ id: string; tenant: string }[]>`
        select id, tenant from edge_runs where ended_at < ${before} order by ended_at limit ${limit}`,

    /** What a run was asked for, once its actor is no more. */
    async eraseRequests(tenant: string, runIds: readonly string[]): Promise<void> {
      await sql`delete from edge_run_requests where tenant = ${tenant} and run_id = any(${texts(runIds)}::uuid[])`;
    },

    /** Requests of a day ago and more that are no runs: they never became any, or were erased in part. */
    leftOver: (limit: number) =>
      sql<{ id: string; tenant: string }[]>`
        select q.run_id as id, q.tenant from edge_run_requests q
        where q.created_at < now() - interval '1 day' and not exists (select from edge_runs r where r.id = q.run_id)
        order by q.created_at limit ${limit}`,
  };
}
