-- Tool servers outside: what they are, what they listed, and what was accepted of it.
create table tool_servers (
  id               uuid primary key,
  -- Null: a server of all tenants.
  tenant           text,
  name             text not null,
  -- Definition of the configuration file (`file`), or of a caller (`api`).
  source           text not null default 'api',
  definition       jsonb not null,
  version          integer not null default 1,
  -- Counts what makes every node that holds a connection make a new one.
  generation       integer not null default 1,
  -- Who defined it last: the references in it were theirs to use.
  defined_by       jsonb not null,
  protocol_version text,
  -- The tools that are within the bounds; null: none were listed yet.
  tools            jsonb,
  -- Digests of the tools' definitions, by name.
  digests          jsonb not null default '{}',
  -- Digests that a person, or the first list, accepted; null: nothing is pinned yet.
  accepted         jsonb,
  listed_at        timestamptz,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now()
);
create unique index tool_servers_by_name on tool_servers ((coalesce(tenant, '')), name);

-- Processes and connections: at most one for each node and server.
create table tool_server_instances (
  server_id      uuid not null references tool_servers (id) on delete cascade,
  node_id        text not null,
  status         text not null,
  pid            integer,
  restarts       integer not null,
  last_error     text,
  unenforced     jsonb not null default '[]',
  -- Sandboxes that the node holds for it: more than one while an old connection is drained.
  sandboxes      uuid[] not null default '{}',
  started_at     timestamptz,
  last_health_at timestamptz,
  -- When its node last said that it is there.
  seen_at        timestamptz not null default now(),
  primary key (server_id, node_id)
);
create index tool_server_instances_of_node on tool_server_instances (node_id);

create table tool_server_logs (
  server_id uuid not null references tool_servers (id) on delete cascade,
  position  bigint generated always as identity,
  node_id   text not null,
  at        timestamptz not null,
  line      text not null,
  primary key (server_id, position)
);
