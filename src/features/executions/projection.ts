/** The table `executions`, kept in step with the actors' states. */
import { EXECUTION } from "../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import type { Change } from "../../runtime/port.ts";
import { projectRows } from "../../runtime/reads/rows.ts";

/** Most turns change nothing that lists show. */
function isNews(before: Change["before"], after: Change["after"]): boolean {
  const old = before as ExecutionState | null;
  return old === null || old.status !== (after as ExecutionState | null)?.status;
}

function rowOf({ key, tenant, after }: Change) {
  const { header, status, created_at, started_at, ending } = after as unknown as ExecutionState;
  return {
    execution_id: key,
    tenant,
    agent_id: header.agent_id,
    status,
    created_at: created_at / 1000,
    started_at: (started_at ?? created_at) / 1000,
    ended_at: ending === null ? null : ending.at / 1000,
    labels: header.labels,
    workflow_name: header.workflow_name,
    workflow_run_id: header.workflow_execution_id,
    parent_execution_id: header.hierarchy.parent_execution_id,
  };
}

const upsert = `
insert into executions (execution_id, tenant, agent_id, status, created_at, started_at, ended_at, labels,
  workflow_name, workflow_run_id, parent_execution_id)
select execution_id, tenant, agent_id, status, to_timestamp(created_at), to_timestamp(started_at), to_timestamp(ended_at),
  labels, workflow_name, workflow_run_id, parent_execution_id
from json_to_recordset($1::text::json) as r (execution_id uuid, tenant text, agent_id uuid, status text,
  created_at double precision, started_at double precision, ended_at double precision, labels jsonb,
  workflow_name text, workflow_run_id text, parent_execution_id text)
on conflict (execution_id) do update
set status = excluded.status, started_at = excluded.started_at, ended_at = excluded.ended_at`;

const remove = `
delete from executions where execution_id in (select value::uuid from json_array_elements_text($1::text::json))`;

export const executionsProjection = projectRows({ kind: EXECUTION, isNews, rowOf, upsert, remove });
