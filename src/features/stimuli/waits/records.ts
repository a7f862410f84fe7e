/** The SQL of `workflow_waits` and `stimulus_takers`, tenant first. */
import { gather } from "../../../store/gather.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Watched } from "./watched.ts";

/** A Wait that a stimulus may fit. */
export interface FittingWait {
  readonly taker: string;
  readonly entry: number;
  readonly match: string | null;
}

/** A stimulus by its name and source. */
export interface NamedStimulus {
  readonly tenant: string;
  readonly id: string;
  readonly source: string;
}

type TenantSource = Pick<NamedStimulus, "tenant" | "source">;
/** Neither slugs nor sources hold blanks. */
const nameOf = ({ tenant, source }: TenantSource): string => `${tenant} ${source}`;

/** So many takers a stimulus tells of, however many there are. */
const shownTakers = 100;

export type WaitRecords = ReturnType<typeof waitRecords>;

export function waitRecords(sql: Sql) {
  const keys = gather<TenantSource, readonly string[]>(async (asked: readonly TenantSource[]) => {
    // By leaps from one key to the next: what a thousand Waits have in common is looked at once.
    const rows = await sql<(TenantSource & { readonly key: string })[]>`
      select a.tenant, a.source, k.key
      from unnest(${texts(asked.map(({ tenant }) => tenant))}::text[],
        ${texts(asked.map(({ source }) => source))}::text[]) as a (tenant, source)
      cross join lateral (
        with recursive keys as (
          (select w.key from workflow_waits w where w.tenant = a.tenant and w.source = a.source order by w.key limit 1)
          union all
          select (select w.key from workflow_waits w
            where w.tenant = a.tenant and w.source = a.source and w.key > k.key order by w.key limit 1)
          from keys k where k.key is not null)
        select key from keys where key is not null) k`;
    const grouped = Map.groupBy(rows, nameOf);
    return new Map([...grouped].map(([name, found]) => [name, found.map(({ key }) => key)]));
  }, nameOf);

  return {
    /** The keys that are waited for; the empty one stands for any payload. */
    keysOf: async (of: TenantSource): Promise<readonly string[]> => (await keys(of)) ?? [],

    /** Waits that a stimulus may fit and whose state has not taken it, in the order of taker and entry, behind one. */
    fitting(
      { tenant, source, id }: NamedStimulus,
      { key, equals }: Watched,
      after: Pick<FittingWait, "taker" | "entry"> | null,
      limit: number,
    ): Promise<readonly FittingWait[]> {
      const behind = after === null ? sql`` : sql`and (w.taker, w.entry) > (${after.taker}, ${after.entry})`;
      return sql<FittingWait[]>`
        select w.taker, w.entry, w.match from workflow_waits w
        where w.tenant = ${tenant} and w.source = ${source} and w.key = ${key} and w.equals = decode(${equals}, 'hex')
          ${behind} and not exists (select from stimulus_takers t where t.tenant = ${tenant} and t.stimulus_id = ${id}
            and t.taker = w.taker and t.state_name = w.state_name)
        order by w.taker, w.entry limit ${limit}`;
    },

    /** Ids of the runs that took a stimulus, the first ones, each once. */
    async takersOf({ tenant, id }: Pick<NamedStimulus, "tenant" | "id">): Promise<readonly string[]> {
      const rows = await sql<{ run_id: string }[]>`
        select run_id from (
          select run_id, taken_at from stimulus_takers where tenant = ${tenant} and stimulus_id = ${id}
          limit ${10 * shownTakers}) some
        group by run_id order by min(taken_at), run_id limit ${shownTakers}`;
      return rows.map(({ run_id }) => run_id);
    },

    /** How many Waits of a source without a key began before this one; `most` where there are more. */
    async keylessBefore(
      { tenant, source }: TenantSource,
      { taker, entry }: Pick<FittingWait, "taker" | "entry">,
      most: number,
    ): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from (
          select from workflow_waits w
          where w.tenant = ${tenant} and w.source = ${source} and w.key = '' and w.equals = ''
            and (w.since, w.taker, w.entry) < (
              select o.since, o.taker, o.entry from workflow_waits o where o.taker = ${taker} and o.entry = ${entry})
          limit ${most}) few`;
      return row?.count ?? 0;
    },
  };
}
