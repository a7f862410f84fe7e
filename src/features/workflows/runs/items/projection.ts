/** The table `workflow_batches`: child records of items at work, so that what they hold is known to be wanted. */
import type { RunState } from "../../../../../actors/workflow/run/state.ts";
import { projectRows } from "../../../../runtime/reads/rows.ts";

const upsert = `
insert into workflow_batches (batch_id, tenant, run_id)
select batch_id, tenant, run_id
from json_to_recordset($1::text::json) as r (batch_id uuid, tenant text, run_id uuid)
on conflict (batch_id) do nothing`;

const remove = `
delete from workflow_batches where batch_id in (select value::uuid from json_array_elements_text($1::text::json))`;

/** Of changes of child records alone. */
export const batchRows = projectRows<RunState>({
  isNews: () => false,
  rowOf: (batch_id, tenant, { header }) => ({ batch_id, tenant, run_id: header.batch?.run_id ?? null }),
  upsert,
  remove,
});
