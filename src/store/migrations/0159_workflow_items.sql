-- Maps that runs entered: one row for each visit, of the last attempt within it.
create table workflow_maps (
  tenant     text not null,
  run_id     uuid not null,
  state_name text not null,
  visit      integer not null,
  attempt    integer not null,
  total      integer not null,
  -- Items without a row never begin after it.
  ended      boolean not null,
  primary key (run_id, state_name, visit)
);
create index workflow_maps_of_tenant on workflow_maps (tenant);
-- Their items that have begun or were given up. Written with the turns of the records that have them.
create table workflow_items (
  tenant       text not null,
  run_id       uuid not null,
  state_name   text not null,
  visit        integer not null,
  attempt      integer not null,
  item         integer not null,
  status       text not null,
  attempts     integer not null,
  -- JSON, whole.
  result       text,
  error        text,
  execution_id uuid,
  primary key (run_id, state_name, visit, attempt, item)
);
create index workflow_items_of_tenant on workflow_items (tenant);
create index workflow_items_by_execution on workflow_items (execution_id) where execution_id is not null;
-- Records of items at work, which are no runs of their own.
create table workflow_batches (
  batch_id uuid primary key,
  tenant   text not null,
  run_id   uuid not null
);
create index workflow_batches_of_tenant on workflow_batches (tenant);
