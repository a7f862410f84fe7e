/** The table `swarms`, and the locks that end with their holders, written with each turn of a swarm. */
import { type SwarmState, statusOf, swarm } from "../../../actors/swarm/swarm.ts";
import { type ActorChange, defineProjection, type Statement } from "../../runtime/port.ts";
import { projectRows } from "../../runtime/reads/rows.ts";

const rowOf = (key: string, tenant: string, state: SwarmState) => ({
  swarm_id: key,
  tenant,
  status: statusOf(state),
  created_at: new Date(state.created_at),
  dissolved_at: state.dissolved_at === null ? null : new Date(state.dissolved_at),
  member_ids: `{${state.members.map(({ id }) => id).join()}}`,
});

const isNews = (before: SwarmState, after: SwarmState): boolean =>
  before.members.length !== after.members.length || statusOf(before) !== statusOf(after);

const upsert = `
insert into swarms (swarm_id, tenant, status, created_at, dissolved_at, member_ids)
select swarm_id, tenant, status, created_at, dissolved_at, member_ids::uuid[]
from json_to_recordset($1::text::json) as r (swarm_id uuid, tenant text, status text, created_at timestamptz,
  dissolved_at timestamptz, member_ids text)
on conflict (swarm_id) do update
set status = excluded.status, dissolved_at = excluded.dissolved_at, member_ids = excluded.member_ids`;

const remove = `
delete from swarms where swarm_id in (select value::uuid from json_array_elements_text($1::text::json))`;

const rowsOf = projectRows({ isNews, rowOf, upsert, remove });

/** Null: all of the swarm's holders. */
interface Released {
  readonly tenant: string;
  readonly swarm_id: string;
  readonly held_by: string | null;
}

const release = `
delete from swarm_locks l using json_to_recordset($1::text::json) as r (tenant text, swarm_id uuid, held_by uuid)
where l.tenant = r.tenant and l.swarm_id = r.swarm_id and (r.held_by is null or l.held_by = r.held_by)`;

function releasedBy({ key, tenant, before, after }: ActorChange<SwarmState>): readonly Released[] {
  const of = (held_by: string | null): Released => ({ tenant, swarm_id: key, held_by });
  if (after === null) return [of(null)];
  if (after.dissolved_at !== null && (before?.dissolved_at ?? null) === null) return [of(null)];
  const ended = new Set(before?.members.filter((one) => one.ended).map(({ id }) => id));
  const left = after.members.filter((one) => one.ended && !ended.has(one.id)).map(({ id }) => of(id));
  return after.founder_ended && before?.founder_ended !== true ? [...left, of(key)] : left;
}

function released(changes: readonly ActorChange<SwarmState>[]): Statement[] {
  const rows = changes.flatMap(releasedBy);
  return rows.length === 0 ? [] : [{ text: release, parameters: [JSON.stringify(rows)] }];
}

export const swarmsProjection = defineProjection(swarm, (changes) => [...rowsOf(changes), ...released(changes)]);
