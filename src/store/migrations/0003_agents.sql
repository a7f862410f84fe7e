-- Agents and every version ever deployed of them. Names and versions compare byte by byte.

create table agents (
  agent_id uuid primary key,
  tenant text not null,
  name text collate "C" not null,
  scope text not null default 'tenant' check (scope in ('tenant', 'global')),
  -- Where a promoted agent came from and returns to.
  origin_tenant text,
  status text not null default 'active' check (status in ('active', 'paused', 'archived')),
  current_version_id uuid not null,
  previous_version_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Set: gone for every reader; the row stays until the agent's executions are cancelled.
  deleted_at timestamptz
);
create unique index agents_name on agents (tenant, name) where deleted_at is null;
create index agents_global on agents (name) where scope = 'global' and deleted_at is null;
create index agents_deleted on agents (deleted_at) where deleted_at is not null;

-- Rows never change: a forced deploy adds a revision.
create table agent_versions (
  version_id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  tenant text not null,
  version text collate "C" not null,
  revision integer not null,
  agent_type text not null,
  labels jsonb not null,
  -- json, not jsonb: what was deployed is given back member by member in its order.
  metadata json not null,
  input_schema json,
  document json not null,
  manifest_yaml text not null,
  -- The resolved manifest that executions start from.
  spec json not null,
  deployed_at timestamptz not null,
  deployed_by text not null,
  unique (agent_id, version, revision)
);
