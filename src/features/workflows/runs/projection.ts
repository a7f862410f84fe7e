/** The table `workflow_runs`, kept in step with the actors' states. */
import { workflowRun } from "../../../../actors/workflow/run/run.ts";
import type { RunState } from "../../../../actors/workflow/run/state.ts";
import { defineProjection } from "../../../runtime/port.ts";
import { countChanges } from "../../../runtime/reads/counters.ts";
import { projectRows } from "../../../runtime/reads/rows.ts";
import { waitRows } from "../../stimuli/waits/port.ts";
import { batchRows } from "./items/projection.ts";

/** Most turns change nothing that the table holds: what a run is at is read from its state. */
const isNews = (before: RunState, after: RunState): boolean => before.status !== after.status;

function rowOf(key: string, tenant: string, { header, status, started_at, ending }: RunState) {
  return {
    run_id: key,
    tenant,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    workflow_version: header.workflow_version,
    status,
    started_at: started_at / 1000,
    ended_at: ending === null ? null : ending.at / 1000,
    parent_run_id: header.parent?.execution_id ?? null,
    root_run_id: header.root_execution_id,
    retry_of: header.retry_of,
    stimulus_id: header.stimulus_id,
  };
}

const upsert = `
insert into workflow_runs (run_id, tenant, workflow_id, workflow_name, workflow_version, status, started_at,
  ended_at, parent_run_id, root_run_id, retry_of, stimulus_id)
select run_id, tenant, workflow_id, workflow_name, workflow_version, status, to_timestamp(started_at),
  to_timestamp(ended_at), parent_run_id, root_run_id, retry_of, stimulus_id
from json_to_recordset($1::text::json) as r (run_id uuid, tenant text, workflow_id uuid, workflow_name text,
  workflow_version text, status text, started_at double precision, ended_at double precision,
  parent_run_id uuid, root_run_id uuid, retry_of uuid, stimulus_id text)
on conflict (run_id) do update set status = excluded.status, ended_at = excluded.ended_at`;

const remove = `
delete from workflow_runs where run_id in (select value::uuid from json_array_elements_text($1::text::json))`;

const rowsOf = projectRows({ isNews, rowOf, upsert, remove });

/** The rows, and the count of runs by version of their workflow. */
export const runsProjection = defineProjection(workflowRun, (changes) => {
  // A child record of items is no run of its own. One that began and ended in this commit leaves nothing.
  const isBatch = ({ before, after }: (typeof changes)[number]) => (before ?? after)?.header.batch !== undefined;
  const runs = changes.filter((one) => !isBatch(one));
  return [
    ...rowsOf(runs),
    ...countChanges(workflowRun.kind, runs, ({ header }) => header.workflow_id),
    ...batchRows(changes.filter(isBatch)),
    ...waitRows(changes),
  ];
});
