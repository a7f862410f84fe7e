-- What nodes say of themselves beside their heartbeats, every 15 seconds. A row goes with the node's own.
create table cluster_nodes (
  id       text primary key references runtime_nodes (id) on delete cascade,
  -- From the stop signal on.
  draining boolean not null default false,
  details  jsonb not null,
  told_at  timestamptz not null
);
