-- Registered workflows, a row for each version.
create table workflows (
  workflow_id uuid primary key,
  -- Whose it is; `*` for what every tenant sees.
  tenant text not null,
  name text not null,
  version text not null,
  -- Sorts by semantic version, byte by byte.
  version_order text collate "C" not null,
  description text not null,
  labels jsonb not null,
  annotations json not null,
  tags text[] not null,
  -- `metadata` as the manifest has it.
  metadata json not null,
  input_schema json not null,
  manifest_yaml text not null,
  manifest_sha256 text not null,
  -- What runs begin with.
  definition text not null,
  -- Counts what was registered under this id.
  revision bigint not null default 1,
  created_at timestamptz not null,
  registered_at timestamptz not null,
  registered_by text not null,
  unique (tenant, name, version)
);
create index workflows_by_name on workflows (name, tenant, version_order);
create index workflows_by_label on workflows using gin (labels jsonb_path_ops);

-- What happened to definitions, and who did it.
create table workflow_changes (
  id uuid primary key,
  at timestamptz not null,
  -- Whose the definition is after the change.
  tenant text not null,
  type text not null,
  workflow_id uuid not null,
  name text not null,
  version text not null,
  actor_kind text not null,
  actor_sub text not null,
  request_id text,
  details json not null
);
create index workflow_changes_of_tenant on workflow_changes (tenant, at);
