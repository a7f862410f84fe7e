-- What lists of workflow executions are filtered and ordered by; derived from the actors' states in the same transaction.
create table workflow_executions (
  execution_id        uuid primary key,
  tenant              text not null,
  workflow_id         uuid not null,
  workflow_name       text not null,
  workflow_version    text not null,
  status              text not null,
  started_at          timestamptz not null,
  ended_at            timestamptz,
  parent_execution_id uuid,
  root_execution_id   uuid not null,
  retry_of            uuid,
  stimulus_id         text
);
create index workflow_executions_newest on workflow_executions (tenant, started_at desc, execution_id desc);
create index workflow_executions_of_name on workflow_executions (tenant, workflow_name, started_at desc, execution_id desc);
-- Lists of one version, and counts.
create index workflow_executions_of_version on workflow_executions (tenant, workflow_id, started_at desc, execution_id desc);
create index workflow_executions_of_version_unfinished on workflow_executions (workflow_id) where ended_at is null;
create index workflow_executions_children on workflow_executions (parent_execution_id) where parent_execution_id is not null;
create index workflow_executions_ended on workflow_executions (ended_at) where ended_at is not null;

-- Volumes of workflows: persistent ones are kept per tenant, workflow and name; ephemeral ones are volumes of a run.
alter table volumes add column workflow text;
alter table volumes drop constraint volumes_kind_check;
alter table volumes add constraint volumes_kind_check check (kind in ('user', 'agent', 'run', 'workflow'));
create unique index volumes_of_workflow on volumes (tenant, workflow, label) where kind = 'workflow' and deleted_at is null;
