-- Fleet runs: a tool on many hosts.

-- What a run was asked for. Written before its actor begins, together with whom it means; one without a run is left over
-- from a start that failed.
create table edge_run_requests (
  run_id     uuid primary key,
  tenant     text not null,
  -- As actors/edge/target.ts has it.
  target     text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index edge_run_requests_newest on edge_run_requests (tenant, created_at);
create index edge_run_requests_age on edge_run_requests (created_at);

-- Whom a run means: as it was asked (0), and as people approved it (1). Hosts that run something come first, in order.
create table edge_run_targets (
  run_id     uuid not null references edge_run_requests (run_id) on delete cascade,
  tenant     text not null,
  resolution smallint not null,
  idx        integer not null,
  node_id    uuid not null,
  name       text not null,
  -- resolved, queued, skipped
  kind       text not null,
  -- Of one that is skipped: why. Of the others: the status of the host then.
  reason     text not null,
  primary key (run_id, resolution, idx)
);

-- A run as its actor has it, for lists.
create table edge_runs (
  id         uuid primary key,
  tenant     text not null,
  tool       text not null,
  status     text not null,
  outcome    text not null,
  created_at timestamptz not null,
  ended_at   timestamptz,
  doc        text not null
);
create index edge_runs_newest on edge_runs (tenant, created_at desc, id desc);
create index edge_runs_open on edge_runs (tenant) where ended_at is null;
create index edge_runs_ended on edge_runs (ended_at) where ended_at is not null;

create table edge_settings (
  tenant           text primary key,
  approve_all      boolean not null default true,
  approve_above    integer,
  agent_runs       text not null default 'approve',
  -- Null: as its kind of tenant has it.
  self_approval    boolean,
  dispatch_enabled boolean not null default true,
  updated_at       timestamptz not null default clock_timestamp()
);
