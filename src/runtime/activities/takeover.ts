/** Rows of work whose node is gone, taken over by this one. */
import { numbers, texts } from "../../store/postgres/array-literal.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import { suspectMs } from "./deaths.ts";

export interface AdoptedRow {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly tenant: string;
  readonly name: string;
  readonly input: string;
  readonly reply_type: string;
  readonly attempt: number;
  /** Nodes that were taken for dead within moments of beginning it; they may have died of it. */
  readonly suspects: readonly string[];
  readonly takeovers: number;
  readonly abandoned: boolean;
  readonly moved: boolean;
}

export interface TakeOver {
  readonly node: string;
  readonly host: string;
  /** The nodes that live. */
  readonly live: readonly string[];
  /** Of the activities that this node runs. */
  readonly names: readonly string[];
  /** The last version of each of them that this node knows: what a later one asked for is left to others. */
  readonly formats: readonly number[];
  /** Another host's work is left alone this long after that host was last seen, ms. */
  readonly orphanAfterMs: number;
  /** How many rows to take, and bytes of inputs, about: one row at least. */
  readonly room: number;
  readonly bytes: number;
}

/** Takes over work of nodes that died or gave it back, and notes which of them may have died of it (`deaths.ts`). */
export async function takeOver(
  sql: Sql,
  { node, host, live, names, formats, orphanAfterMs, room, bytes }: TakeOver,
): Promise<readonly AdoptedRow[]> {
  const { gone, unowned } = await ownersGone(sql, [...live, node]);
  if (gone.length === 0 && !unowned) return [];
  return sql<AdoptedRow[]>`
    update runtime_activities taken set node = ${node}, host = ${host}, released_at = null, begun_at = null,
      deaths = taken.deaths + found.died_of_it::int, takeovers = taken.takeovers + found.died::int,
      suspects = case when found.died_of_it then array_append(taken.suspects, found.former) else taken.suspects end
    from (
      select *, sum(size) over (order by created_at, id) - size as before from (
        select a.id, a.host, a.created_at, octet_length(a.input) as size, a.node as former, a.node is not null as died,
          a.node is not null and a.begun_at is not null
            and a.begun_at > coalesce(n.heartbeat_at, a.begun_at) - ${`${suspectMs} milliseconds`}::interval as died_of_it
        from runtime_activities a left join runtime_nodes n on n.id = a.node
        where (a.node is null or a.node = any(${texts(gone)}::text[]))
          and exists (select from unnest(${texts(names)}::text[], ${numbers(formats)}::int[]) as known (name, format)
            where known.name = a.name and known.format >= a.format)
          and (not a.host_bound or a.host = ${host}
            or (coalesce(n.heartbeat_at, a.released_at, a.created_at) < now() - ${`${orphanAfterMs} milliseconds`}::interval
                and not exists (select 1 from runtime_nodes h where h.host = a.host and h.id = any(${texts(live)}::text[]))))
        order by a.created_at, a.id limit ${room} for update of a skip locked) candidate) found
    where taken.id = found.id and found.before < ${bytes}
    returning taken.id, kind, key, tenant, name, input, reply_type, attempt, suspects, takeovers, abandoned,
      found.host <> ${host} as moved`;
}

/**
 * The nodes that have work and do not live, and whether there is work without a node. Nodes are found by leaping from one to
 * the next over the index, so that the work of living nodes is not looked at.
 */
async function ownersGone(sql: Sql, live: readonly string[]): Promise<{ gone: readonly string[]; unowned: boolean }> {
  const [row] = await sql<[{ gone: string[]; unowned: boolean }]>`
    with recursive owners as (
      (select min(node) as node from runtime_activities)
      union all
      select (select min(a.node) from runtime_activities a where a.node > o.node) from owners o where o.node is not null
    )
    select coalesce(array_agg(o.node) filter (where not o.node = any(${texts(live)}::text[])), '{}') as gone,
      exists (select from runtime_activities where node is null) as unowned
    from owners o where o.node is not null`;
  return row;
}

/** Rows of this node's own; inputs of so many bytes, about, and of one row at least. */
export function rowsOf(
  sql: Sql,
  { node, bytes }: Pick<TakeOver, "node" | "bytes">,
  ids: readonly string[],
): Promise<readonly AdoptedRow[]> {
  // The length of a text that is stored aside is known without reading it.
  return sql<AdoptedRow[]>`
    select id, kind, key, tenant, name, input, reply_type, attempt, suspects, takeovers, abandoned, false as moved
    from (
      select *, sum(octet_length(input)) over (order by created_at, id) - octet_length(input) as before
      from runtime_activities where node = ${node} and id = any(${texts(ids)}::text[])) mine
    where before < ${bytes}`;
}

/** This node lives, though another may have this work now: it did not die of it. */
export async function withdrawDeaths(sql: Sql, node: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update runtime_activities set takeovers = greatest(0, takeovers - 1), suspects = array_remove(suspects, ${node}),
      deaths = cardinality(array_remove(suspects, ${node}))
    where id = any(${texts(ids)}::text[]) and node is distinct from ${node}`;
}
