-- What is known of a host by its link, written by the turns of its actor. A heartbeat is written beside them, many at once:
-- room in the pages keeps that from touching the indexes.
alter table edge_hosts
  add column status            text not null default 'disconnected',
  -- Of the last change of the status; null: since it was enrolled.
  add column since             timestamptz,
  add column epoch             bigint not null default 0,
  -- The service node that holds the link.
  add column owner_node        text,
  add column link_since        timestamptz,
  add column last_heartbeat_at timestamptz,
  add column last_seen_at      timestamptz,
  add column boot_id           uuid,
  add column slots             integer,
  add column running           integer not null default 0,
  -- `daemon`, `held`, `cloned`, `outdated`, as the actor has them; `held` above is the wish.
  add column not_accepting     text[] not null default '{}',
  -- The whole of what the daemon says of its machine; null: it has never connected.
  add column capabilities      jsonb;
alter table edge_hosts set (fillfactor = 80);
create index edge_hosts_by_owner on edge_hosts (owner_node) where owner_node is not null;

-- Attempts at running a tool on a host. Written by turns of edge-host actors alone.
create table edge_commands (
  id             uuid primary key,
  tenant         text not null,
  run_id         uuid not null,
  idx            integer not null,
  attempt        integer not null,
  host_id        uuid not null,
  tool           text not null,
  status         text not null,
  epoch          bigint,
  created_at     timestamptz not null,
  dispatched_at  timestamptz,
  started_at     timestamptz,
  ended_at       timestamptz,
  duration_ms    bigint,
  exit_code      bigint,
  error_kind     text,
  error_message  text,
  reason         text,
  stdout_tail    text,
  stderr_tail    text,
  stdout_bytes   bigint,
  stderr_bytes   bigint,
  truncated      boolean,
  -- JSON.
  structured     text,
  late           boolean not null default false
);
-- A row is written as the command is sent, as it starts and as it ends.
alter table edge_commands set (fillfactor = 50);
create unique index edge_commands_of_run on edge_commands (run_id, idx, attempt);
create index edge_commands_of_host on edge_commands (host_id, created_at desc, id desc);

-- What the invoke frames of a run have in common. Written by turns of fleet-run actors.
create table edge_run_args (
  run_id           uuid primary key,
  tenant           text not null,
  tool             text not null,
  -- JSON.
  args             text not null,
  security_context text,
  requested_by     text not null,
  trace            text,
  created_at       timestamptz not null
);

-- Frames that are to be sent over the link of this epoch; they go as they are written to the socket.
create table edge_frames (
  id         bigint generated always as identity primary key,
  tenant     text not null,
  host_id    uuid not null,
  epoch      bigint not null,
  node       text not null,
  kind       text not null,
  command_id uuid not null,
  -- What only frames of this kind hold, as JSON.
  body       text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index edge_frames_of_node on edge_frames (node, host_id, id);
create index edge_frames_of_host on edge_frames (host_id, epoch);
