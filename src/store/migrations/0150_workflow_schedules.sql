-- Who registered a version, with the permissions held then: a Starter and an e-mail address. Null: a former version did.
alter table workflows add column deployer jsonb;

create sequence workflow_schedule_revisions;
-- The schedules of the latest versions of workflows, written with these. Their actors go by them.
create table workflow_schedules (
  schedule_id   uuid primary key,
  -- Where it starts runs.
  tenant        text not null,
  -- Of the workflow: a tenant, or `*`.
  owner         text not null,
  workflow_name text not null,
  -- The latest version.
  workflow_id   uuid not null,
  name          text not null,
  -- Within the manifest.
  place         integer not null,
  -- As the definition has it.
  schedule      json not null,
  deployer      jsonb,
  paused        boolean not null default false,
  -- It goes once its actor has ended.
  ended         boolean not null default false,
  -- Raised by each change; above `settled` the actor is to hear of it.
  revision      bigint not null,
  settled       bigint not null default 0,
  -- Since then its intervals are counted.
  created_at    timestamptz not null,
  -- Since then it is as it is.
  changed_at    timestamptz not null,
  unique (owner, workflow_name, name)
);
create index workflow_schedules_unsettled on workflow_schedules (schedule_id) where settled < revision;
create index workflow_schedules_of_tenant on workflow_schedules (tenant, schedule_id);
