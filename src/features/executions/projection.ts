/** The tables `executions` and `execution_labels`, and the count of executions by agent, written with each turn. */
import { execution } from "../../../actors/execution/execution.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import { type ActorChange, defineProjection, type Statement } from "../../runtime/port.ts";
import { countChanges } from "../../runtime/reads/counters.ts";
import { projectRows } from "../../runtime/reads/rows.ts";

/** Most turns change nothing that the table holds: what lists show besides is read from the state's listed members. */
const isNews = (before: ExecutionState, after: ExecutionState): boolean => before.status !== after.status;

function rowOf(key: string, tenant: string, state: ExecutionState) {
  const { header, status, created_at, started_at, ending } = state;
  return {
    execution_id: key,
    tenant,
    agent_id: header.agent_id,
    status,
    created_at: created_at / 1000,
    started_at: (started_at ?? created_at) / 1000,
    ended_at: ending === null ? null : ending.at / 1000,
    workflow_name: header.workflow_name,
    workflow_run_id: header.workflow_execution_id,
    parent_execution_id: header.hierarchy.parent_execution_id,
  };
}

const upsert = `
insert into executions (execution_id, tenant, agent_id, status, created_at, started_at, ended_at,
  workflow_name, workflow_run_id, parent_execution_id)
select execution_id, tenant, agent_id, status, to_timestamp(created_at), to_timestamp(started_at), to_timestamp(ended_at),
  workflow_name, workflow_run_id, parent_execution_id
from json_to_recordset($1::text::json) as r (execution_id uuid, tenant text, agent_id uuid, status text,
  created_at double precision, started_at double precision, ended_at double precision,
  workflow_name text, workflow_run_id text, parent_execution_id text)
on conflict (execution_id) do update
set status = excluded.status, started_at = excluded.started_at, ended_at = excluded.ended_at`;

const remove = `
delete from executions where execution_id in (select value::uuid from json_array_elements_text($1::text::json))`;

const rowsOf = projectRows({ isNews, rowOf, upsert, remove });

const addLabels = `
insert into execution_labels (tenant, name, value, created_at, execution_id)
select tenant, name, value, to_timestamp(created_at), execution_id
from json_to_recordset($1::text::json) as r (tenant text, name text, value text, created_at double precision,
  execution_id uuid)
on conflict do nothing`;

const removeLabels = `
delete from execution_labels l using json_to_recordset($1::text::json) as r (tenant text, name text, value text,
  created_at double precision, execution_id uuid)
where l.tenant = r.tenant and l.name = r.name and l.value = r.value and l.created_at = to_timestamp(r.created_at)
  and l.execution_id = r.execution_id`;

function labelsOf(key: string, tenant: string, state: ExecutionState) {
  return Object.entries(state.header.labels).map(([name, value]) => ({
    tenant,
    name,
    value,
    created_at: state.created_at / 1000,
    execution_id: key,
  }));
}

/** Labels are written once, at the start, and go with their execution. */
function labelStatements(changes: readonly ActorChange<ExecutionState>[]): Statement[] {
  const begun: object[] = [];
  const gone: object[] = [];
  for (const { key, tenant, before, after } of changes) {
    if (before === null && after !== null) begun.push(...labelsOf(key, tenant, after));
    if (before !== null && after === null) gone.push(...labelsOf(key, tenant, before));
  }
  return [
    ...(begun.length === 0 ? [] : [{ text: addLabels, parameters: [JSON.stringify(begun)] }]),
    ...(gone.length === 0 ? [] : [{ text: removeLabels, parameters: [JSON.stringify(gone)] }]),
  ];
}

export const executionsProjection = defineProjection(execution, (changes) => [
  ...rowsOf(changes),
  ...labelStatements(changes),
  ...countChanges(execution.kind, changes, ({ header }) => header.agent_id),
]);
