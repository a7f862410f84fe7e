-- Volumes: of users, of agents (persistent ones), of single runs (declared ephemeral ones). Labels compare byte by byte.
-- An execution's implicit workspace has no row: its id is the execution's.
create table volumes (
  volume_id        uuid primary key,
  tenant           text not null,
  kind             text not null check (kind in ('user', 'agent', 'run')),
  -- What its owner, or the manifest, calls it.
  label            text collate "C" not null,
  -- The user; of an agent's volume whoever ran the agent first.
  owner_user_id    text,
  agent_id         uuid,
  execution_id     uuid,
  visibility       text not null default 'private' check (visibility in ('private', 'tenant')),
  size_limit_bytes bigint not null,
  -- Of a run's volume: how long it outlives the run.
  ttl_ms           bigint,
  -- As last measured; not to be trusted while `measured` is false.
  used_bytes       bigint not null default 0,
  file_count       bigint not null default 0,
  measured         boolean not null default true,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  -- Set: gone for every reader; the row stays until every host has erased the files.
  deleted_at       timestamptz
);
create unique index volumes_label on volumes (tenant, owner_user_id, label) where kind = 'user' and deleted_at is null;
create unique index volumes_of_agent on volumes (agent_id, tenant, label) where kind = 'agent' and deleted_at is null;
create index volumes_of_run on volumes (execution_id) where kind = 'run';
create index volumes_of_tenant on volumes (tenant, created_at, volume_id) where deleted_at is null;
create index volumes_deleted on volumes (deleted_at) where deleted_at is not null;

-- Which executions mount a volume, or read attachments from it.
create table volume_mounts (
  volume_id    uuid not null references volumes on delete cascade,
  execution_id uuid not null,
  tenant       text not null,
  -- How it shows in the execution's instances, once one was launched; see src/volumes/sharing.ts.
  shape        text,
  created_at   timestamptz not null default now(),
  primary key (volume_id, execution_id)
);
create index volume_mounts_of_execution on volume_mounts (execution_id);

-- What is known of the content of files; holds as long as size and time of change are the file's.
create table volume_files (
  volume_id   uuid not null references volumes on delete cascade,
  path        text collate "C" not null,
  size        bigint not null,
  modified_us bigint not null,
  sha256      text not null,
  mime_type   text not null,
  primary key (volume_id, path)
);
