/** Writes what turns put on record of Maps and their items, in the statement that commits the turns. */
import type { Json } from "../../../../../actors/kernel/json.ts";
import { type ItemsFact, itemsFact } from "../../../../../actors/workflow/run/map/rows.ts";
import type { Fact, FactWriter, Statement } from "../../../../runtime/port.ts";

const upsertMaps = `
insert into workflow_maps (tenant, run_id, state_name, visit, attempt, total, ended)
select tenant, run_id, state_name, visit, attempt, total, ended
from json_to_recordset($1::text::json) as r (tenant text, run_id uuid, state_name text, visit integer,
  attempt integer, total integer, ended boolean)
on conflict (run_id, state_name, visit) do update set attempt = excluded.attempt, total = excluded.total,
  ended = excluded.ended`;

const upsertItems = `
insert into workflow_items (tenant, run_id, state_name, visit, attempt, item, status, attempts, result, error,
  execution_id)
select tenant, run_id, state_name, visit, attempt, index, status, attempts, result, error, execution_id
from json_to_recordset($1::text::json) as r (tenant text, run_id uuid, state_name text, visit integer,
  attempt integer, index integer, status text, attempts integer, result text, error text, execution_id uuid)
on conflict (run_id, state_name, visit, attempt, item) do update set status = excluded.status,
  attempts = excluded.attempts, result = excluded.result, error = excluded.error,
  execution_id = coalesce(excluded.execution_id, workflow_items.execution_id)`;

const removeMaps =
  "delete from workflow_maps where run_id in (select value::uuid from json_array_elements_text($1::text::json))";
const removeItems =
  "delete from workflow_items where run_id in (select value::uuid from json_array_elements_text($1::text::json))";

export const itemFacts: FactWriter = {
  name: itemsFact.name,
  write(facts) {
    const { maps, items, gone } = lastOf(facts);
    const statements: Statement[] = [];
    if (maps.length > 0) statements.push({ text: upsertMaps, parameters: [JSON.stringify(maps)] });
    if (items.length > 0) statements.push({ text: upsertItems, parameters: [JSON.stringify(items)] });
    if (gone.length > 0) {
      const parameters = [JSON.stringify(gone)];
      statements.push({ text: removeMaps, parameters }, { text: removeItems, parameters });
    }
    return statements;
  },
};

type RowOfRun = { readonly run_id: string; readonly [column: string]: Json };

/** Parts of one statement do not see each other's rows: of each row the last word counts, and none of a run that goes. */
function lastOf(facts: readonly Fact[]) {
  const maps = new Map<string, RowOfRun>();
  const items = new Map<string, RowOfRun>();
  const gone = new Set<string>();
  for (const { tenant, fact } of facts) {
    // Actors make them by the definition alone.
    const said = fact as ItemsFact;
    if (said.of === "gone") {
      gone.add(said.run_id);
      continue;
    }
    const { run_id, state_name, visit, attempt } = said;
    const place = { tenant, run_id, state_name, visit, attempt };
    const key = `${run_id}/${state_name}/${visit}`;
    if (said.of === "map") maps.set(key, { ...place, total: said.total, ended: said.ended });
    else for (const item of said.items) items.set(`${key}/${attempt}/${item.index}`, { ...place, ...item });
  }
  const kept = (rows: ReadonlyMap<string, RowOfRun>) => [...rows.values()].filter(({ run_id }) => !gone.has(run_id));
  return { maps: kept(maps), items: kept(items), gone: [...gone] };
}
