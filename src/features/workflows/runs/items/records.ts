/** The SQL of the tables of Maps, tenant first. */
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { MapResults } from "../../../../../actors/workflow/run/activities/map-results.ts";
import type { Page } from "../../../../http/paging.ts";
import type { Sql } from "../../../../store/postgres/pool.ts";

/** Bytes of results that a Map's own result holds: of each, and of all. */
const maxInlineBytes = 65_536;
const maxAllInlineBytes = 1_048_576;
/** More than any Map has. */
const mostItems = 1_000_000;
/** Of the results of one page of a list. */
const maxPageBytes = 8 * 1_048_576;

export interface ItemsOf {
  readonly runId: string;
  readonly state: string;
  /** Null: the last one. */
  readonly visit: number | null;
}

export interface ShownItem {
  readonly index: number;
  readonly status: string;
  readonly attempts: number;
  readonly result: Json;
  readonly error: string | null;
  readonly execution_id: string | null;
}

interface ItemLine extends Omit<ShownItem, "result"> {
  readonly result: string | null;
}

interface ResultLine {
  readonly item: number;
  readonly status: string;
  readonly error: string | null;
  readonly bytes: number | null;
  readonly result: string | null;
  readonly sha256: string | null;
}

export type ItemRecords = ReturnType<typeof itemRecords>;

export function itemRecords(sql: Sql) {
  /** Of the Map's last attempt within the visit: those that began, and the others as they stand without. */
  const all = (tenant: string, { runId, state, visit }: ItemsOf) => sql`
    select place as index, coalesce(i.status, case when m.ended then 'cancelled' else 'pending' end) as status,
      coalesce(i.attempts, 0) as attempts, i.result, i.error, i.execution_id
    from workflow_maps m cross join lateral generate_series(0, m.total - 1) as place
    left join workflow_items i on i.run_id = m.run_id and i.state_name = m.state_name and i.visit = m.visit
      and i.attempt = m.attempt and i.item = place
    where m.tenant = ${tenant} and m.run_id = ${runId} and m.state_name = ${state}
      and m.visit = ${visit === null ? sql`(select max(visit) from workflow_maps where run_id = ${runId} and state_name = ${state})` : visit}`;

  return {
    /**
     * In their order; one more than the page asks for when there are more. A page whose results are large ends early.
     * @returns `limit`: how many the page may show
     */
    async list(tenant: string, of: ItemsOf, status: string | null, { limit, offset, after }: Page) {
      const from = after === null ? -1 : Number(after[0]);
      // A cursor that was tampered with finds nothing.
      if (!Number.isInteger(from) || from < -1 || from > mostItems) return { rows: [], limit };
      const rows = await sql<(ItemLine & { readonly is_shown: boolean })[]>`
        select index, status, attempts, case when is_shown then result end as result, error, execution_id, is_shown
        from (
          select *, row_number() over (order by index) = 1 or
            sum(coalesce(octet_length(result), 0)) over (order by index) <= ${maxPageBytes} as is_shown
          from (
            select * from (${all(tenant, of)}) every
            where index > ${from} ${status === null ? sql`` : sql`and status = ${status}`}
            order by index limit ${limit + 1} offset ${offset}) page) sized
        order by index`;
      const fitting = rows.findIndex(({ is_shown }) => !is_shown);
      return { rows: rows.map(shown), limit: fitting === -1 ? limit : Math.min(limit, fitting) };
    },

    async find(tenant: string, of: ItemsOf, index: number): Promise<ShownItem | null> {
      const [row] = await sql<ItemLine[]>`select * from (${all(tenant, of)}) every where index = ${index}`;
      return row === undefined ? null : shown(row);
    },

    /** The results of a Map whose items are over, in their order: those that fit whole, others by what they are. */
    async results(tenant: string, { run_id, state_name, visit, attempt, total }: MapResults) {
      const rows = await sql<ResultLine[]>`
        select item, status, error, bytes, case when is_inline then result end as result,
          case when not is_inline then encode(sha256(convert_to(result, 'UTF8')), 'hex') end as sha256
        from (
          select *, bytes <= ${maxInlineBytes}
            and sum(bytes) filter (where bytes <= ${maxInlineBytes}) over (order by item) <= ${maxAllInlineBytes}
              as is_inline
          from (
            select item, status, error, result, octet_length(result) as bytes from workflow_items
            where tenant = ${tenant} and run_id = ${run_id} and state_name = ${state_name} and visit = ${visit}
              and attempt = ${attempt} and status in ('completed', 'failed')) ended) sized
        order by item`;
      const results: Json[] = Array.from({ length: total }, () => null);
      for (const row of rows) results[row.item] = resultOf({ run_id, state_name, visit }, row);
      const failed = rows
        .filter(({ status }) => status === "failed")
        .map(({ item, error }) => ({ index: item, error: error ?? "state_failed" }));
      return { results, failed };
    },
  };
}

function shown({ index, status, attempts, result, error, execution_id }: ItemLine): ShownItem {
  return { index, status, attempts, result: parsed(result), error, execution_id };
}

// Written as JSON by the record of the item.
const parsed = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json));

function resultOf(
  { run_id, state_name, visit }: Pick<MapResults, "run_id" | "state_name" | "visit">,
  { item, bytes, result, sha256 }: ResultLine,
): Json {
  if (sha256 === null) return parsed(result);
  const query = `state=${state_name}&visit=${visit}&offset=${item}&limit=1`;
  return { ref: `/v1/workflows/executions/${run_id}/items?${query}`, bytes, sha256 };
}
