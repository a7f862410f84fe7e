/** What PostgreSQL knows of the numbers of runs' events. */
import { numbers } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";

export interface NumberedEntry {
  /** Of the entry in the run's log. */
  readonly seq: number;
  readonly number: number;
}

/** How the stream of a run is filled now. */
export interface Filling {
  /** Counts from 0; a later one is in place of an earlier. */
  readonly filling: number;
  /** Entries whose numbers were shown, by numbers. */
  readonly shown: readonly NumberedEntry[];
}

/** Numbers of one filling; no run has as many events. */
export const perFilling = 1_000_000_000;

export type StreamRecords = ReturnType<typeof streamRecords>;

export function streamRecords(sql: Sql) {
  const shown = async (query: Pick<Sql, "unsafe"> & Sql, runId: string): Promise<readonly NumberedEntry[]> =>
    query<NumberedEntry[]>`
      select seq, number::float8 as number from edge_run_event_ids where run_id = ${runId} order by number`;

  return {
    /**
     * Another filling of a stream, where that is wanted still: those who want one come one after another.
     * @param isWanted of the latest one; null: there was none
     * @returns null: it is not, or there is no such run
     */
    fill: (
      tenant: string,
      runId: string,
      isWanted: (latest: { readonly filling: number; readonly ageMs: number } | null) => Promise<boolean>,
    ): Promise<Filling | null> =>
      sql.begin(async (tx) => {
        const made = await tx`
          insert into edge_run_streams (run_id, tenant)
          select run_id, tenant from edge_run_requests where run_id = ${runId} and tenant = ${tenant}
          on conflict (run_id) do nothing`;
        const [row] = await tx<{ fills: number; age: number }[]>`
          select fills, (extract(epoch from clock_timestamp() - filled_at) * 1000)::float8 as age
          from edge_run_streams where run_id = ${runId} and tenant = ${tenant} for update`;
        if (row === undefined) return null;
        const latest = made.count > 0 || row.fills === 0 ? null : { filling: row.fills - 1, ageMs: row.age };
        if (!(await isWanted(latest))) return null;
        await tx`
          update edge_run_streams set fills = fills + 1, filled_at = clock_timestamp() where run_id = ${runId}`;
        return { filling: row.fills, shown: await shown(tx as unknown as Sql, runId) };
      }) as Promise<Filling | null>,

    /**
     * Puts on record that entries are shown under these numbers; those that were shown before keep theirs.
     * @returns the numbers by entry; null: the stream was filled anew since
     */
    async show(
      tenant: string,
      runId: string,
      filling: number,
      entries: readonly NumberedEntry[],
    ): Promise<ReadonlyMap<number, number> | null> {
      const seqs = numbers(entries.map(({ seq }) => seq));
      const rows = await sql<{ seq: number | null; number: number | null }[]>`
        with current as (
          select run_id from edge_run_streams
          where run_id = ${runId} and tenant = ${tenant} and fills = ${filling + 1} for share),
        added as (
          insert into edge_run_event_ids (run_id, tenant, seq, number)
          select ${runId}, ${tenant}, seq, number
          from unnest(${seqs}::int[], ${numbers(entries.map(({ number }) => number))}::bigint[]) as e (seq, number), current
          on conflict do nothing returning seq, number)
        select known.seq, known.number::float8 as number from current left join (
          select seq, number from added
          union all select seq, number from edge_run_event_ids where run_id = ${runId} and seq = any(${seqs}::int[])) as known
          on true`;
      if (rows.length === 0) return null;
      return new Map(
        rows.flatMap(({ seq, number }) => (seq === null || number === null ? [] : [[seq, number] as const])),
      );
    },

    /** Runs that have not ended, from the one behind `after` on. */
    open: (after: string, limit: number) =>
      sql<{ id: string; tenant: string }[]>`
        select id, tenant from edge_runs where ended_at is null and id > ${after} order by id limit ${limit}`,
  };
}
