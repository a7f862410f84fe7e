/** The SQL of the table `stimuli` for those who look back at them, tenant first. */
import type { Fragment } from "postgres";
import { firstIdOf } from "../../../../actors/stimulus/ids.ts";
import { type FullStimulusRow, type StimulusRow, shownBytes } from "../../../../actors/stimulus/record.ts";
import type { Arrival, Channel } from "../../../../actors/stimulus/stimulus.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import { type CountPieces, type PieceCount, withTenants } from "../../../runtime/reads/spans.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

/** Null: any. */
export interface StimulusFilter {
  readonly source: string | null;
  readonly statuses: readonly string[] | null;
  readonly channel: Channel | null;
  readonly deadLetter: boolean | null;
  readonly workflowExecutionId: string | null;
  /** Both ends belong to it. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** What can be told of a stimulus without its content, while its row is held. */
export interface HeldRow {
  readonly status: StimulusRow["status"];
  readonly dead_letter: boolean;
  readonly source: string;
  readonly run_id: string;
  readonly idempotency_key: string | null;
  readonly replayed_by: string | null;
  /** Of one that has ended: until when another caller is replaying it. */
  readonly due_at: Date;
  readonly replay_of: string | null;
  /** A replay of it has not ended. */
  readonly is_replayed_now: boolean;
}

export type StoredArrival = Omit<
  Arrival,
  "channel" | "acknowledge" | "sourceId" | "override" | "replayOf" | "receivedBy"
>;

export interface Discarding {
  readonly at: Date;
  readonly by: { readonly kind: string; readonly sub: string };
  readonly reason: string | null;
}

/** An id is minted a moment before or after its stimulus is received. */
const slackMs = 60_000;

/** Stimuli that came in a span, by their ids, which tell when they were minted: those of each piece lie side by side. */
export const countReceived: CountPieces = (query, tenant, { from, to }, pieceMs) => query<PieceCount[]>`
  ${withTenants(query, "stimuli", tenant)},
  pieces (piece, first, next) as (
    select n, (lpad(to_hex(greatest(n * ${pieceMs}::bigint, ${from.getTime()}::bigint)), 12, '0') || ${belowAll})::uuid,
      (lpad(to_hex(least((n + 1) * ${pieceMs}::bigint, ${to.getTime()}::bigint)), 12, '0') || ${belowAll})::uuid
    from generate_series(${Math.floor(from.getTime() / pieceMs)}::bigint,
      ${Math.floor((to.getTime() - 1) / pieceMs)}::bigint) n)
  select pieces.piece::float8 as piece, '' as status, sum(s.count)::int as count
  from tenants cross join pieces cross join lateral (
    select count(*) as count from stimuli
    where tenant = tenants.tenant and id >= pieces.first and id < pieces.next) s
  where s.count > 0 group by 1`;
/** Behind the time of an id. */
const belowAll = "0".repeat(20);

export type HistoryRecords = ReturnType<typeof historyRecords>;

export function historyRecords(sql: Sql) {
  const columns = sql`tenant, id, source, channel, status, dead_letter, content_encoding, content_type, content_size,
    content_sha256, headers_truncated, idempotency_key, duplicate_count, source_id, run_id, classification,
    error_code, error_message, error_details, attempts, replay_of, replayed_by, received_by_kind, received_by_sub,
    received_at, last_event_at, discarded_at, discarded_by, discard_reason, ${takenBy(sql)}`;

  return {
    /** One row more than the page asks for when there are more; of contents what a list shows, and a bit. */
    async list(tenant: string, filter: StimulusFilter, order: "newest" | "oldest", page: Page): Promise<StimulusRow[]> {
      const conditions = [sql`tenant = ${tenant}`, ...conditionsOf(sql, tenant, filter)];
      const direction = order === "newest" ? sql`desc` : sql`asc`;
      if (page.after !== null) {
        const [id = ""] = page.after;
        // A cursor that was tampered with finds nothing.
        if (!isUuid(id)) return [];
        conditions.push(order === "newest" ? sql`id < ${id}` : sql`id > ${id}`);
      }
      const where = conditions.reduce((all, one) => sql`${all} and ${one}`);
      // Of each status as many as the list may need, so that an index gives them in order.
      const parts = statusesOf(sql, filter).map(
        (status) => sql`(
          select id from stimuli where ${where} ${status}
          order by id ${direction} limit ${page.offset + page.limit + 1})`,
      );
      return sql<StimulusRow[]>`
        select ${columns}, left(content, ${shownBytes + 1}) as content from stimuli
        where tenant = ${tenant} and id in (
          select id from (${parts.reduce((all, one) => sql`${all} union all ${one}`)}) as found
          order by id ${direction} limit ${page.limit + 1} offset ${page.offset})
        order by id ${direction}`;
    },

    async find(tenant: string, id: string): Promise<FullStimulusRow | null> {
      const [row] = await sql<FullStimulusRow[]>`
        select ${columns}, content, headers from stimuli where tenant = ${tenant} and id = ${id}`;
      return row ?? null;
    },

    /** What a replay of it repeats. */
    async stored(tenant: string, id: string): Promise<StoredArrival | null> {
      const [row] = await sql<(FullStimulusRow & { readonly guard: string | null })[]>`
        select source, content, content_encoding, content_type, content_size, content_sha256, headers,
          headers_truncated, idempotency_key, encode(guard_digest, 'hex') as guard from stimuli where tenant = ${tenant} and id = ${id}`;
      if (row === undefined) return null;
      return {
        tenant,
        source: row.source,
        content: row.content,
        contentEncoding: row.content_encoding,
        contentType: row.content_type,
        contentSize: row.content_size,
        contentSha256: row.content_sha256,
        headers: JSON.parse(row.headers) as Record<string, string>,
        headersTruncated: row.headers_truncated,
        key: row.idempotency_key,
        guard: row.guard,
      };
    },

    /** Holds its row until the transaction ends. */
    async hold(tx: Transaction, tenant: string, id: string): Promise<HeldRow | null> {
      const [row] = await tx<HeldRow[]>`
        select status, dead_letter, source, run_id, idempotency_key, replayed_by, due_at, replay_of,
          exists (select from stimuli r where r.tenant = ${tenant} and r.replay_of = ${id} and r.status = 'received')
            as is_replayed_now
        from stimuli where tenant = ${tenant} and id = ${id} for no key update`;
      return row ?? null;
    },

    /** Keeps others from replaying one that has ended. */
    async reserve(tx: Transaction, tenant: string, id: string, until: Date): Promise<void> {
      await tx`update stimuli set due_at = ${until} where tenant = ${tenant} and id = ${id} and status <> 'received'`;
    },

    async release(tenant: string, id: string): Promise<void> {
      await sql`
        update stimuli set due_at = received_at where tenant = ${tenant} and id = ${id} and status <> 'received'`;
    },

    async discard(tx: Transaction, tenant: string, id: string, { at, by, reason }: Discarding): Promise<void> {
      await tx`
        update stimuli set status = 'discarded', dead_letter = false, discarded_at = ${at}, last_event_at = ${at},
          discarded_by = ${JSON.stringify(by)}::text::jsonb, discard_reason = ${reason}
        where tenant = ${tenant} and id = ${id} and dead_letter`;
    },
  };
}

/** The first hundred runs that took a stimulus. */
const takenBy = (sql: Sql) => sql`array(select run_id::text from (
    select t.run_id, t.taken_at from stimulus_takers t where t.tenant = stimuli.tenant and t.stimulus_id = stimuli.id
    limit 1000) some group by run_id order by min(taken_at), run_id limit 100) as taken_by`;

/** A condition for each status asked for; what is still to be processed stands in an index of its own. */
function statusesOf(sql: Sql, { statuses }: StimulusFilter): Fragment[] {
  if (statuses === null) return [sql``];
  return [...new Set(statuses)].map((status) =>
    status === "received" ? sql`and status = 'received'` : sql`and status = ${status} and status <> 'received'`,
  );
}

function conditionsOf(sql: Sql, tenant: string, filter: StimulusFilter): Fragment[] {
  const { source, channel, deadLetter, workflowExecutionId, from, to } = filter;
  const conditions: Fragment[] = [];
  // A replay that came to nothing is part of its original.
  conditions.push(sql`(replay_of is null or dead_letter or status in ('received', 'classified', 'discarded'))`);
  if (source !== null) conditions.push(sql`source = ${source}`);
  if (channel !== null) conditions.push(sql`channel = ${channel}`);
  if (deadLetter !== null) conditions.push(deadLetter ? sql`dead_letter` : sql`not dead_letter`);
  if (workflowExecutionId !== null) {
    conditions.push(sql`id = (select w.stimulus_id::uuid from workflow_runs w
      where w.run_id = ${workflowExecutionId} and w.tenant = ${tenant})`);
  }
  // By the id as well, which is what rows are found by.
  if (from !== null) conditions.push(sql`received_at >= ${from} and id >= ${firstIdOf(from.getTime() - slackMs)}`);
  if (to !== null) conditions.push(sql`received_at <= ${to} and id < ${firstIdOf(to.getTime() + slackMs)}`);
  return conditions;
}
