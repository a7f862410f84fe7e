-- Nodes of two versions run side by side: what one of them does not know waits here for one that does.

-- `capabilities` names a row of runtime_capabilities, `migration` is the last one that the node's version has. Null for
-- nodes of the version before this table.
alter table runtime_nodes
  add column capabilities text,
  add column migration text;

-- What nodes know, as JSON, under its hash: nodes of one version share a row.
create table runtime_capabilities (
  id    text primary key,
  knows text not null
);

-- Messages and effects that no node here knew when their turn came, in order.
create table runtime_parked (
  seq        bigint generated always as identity primary key,
  partition  integer not null,
  -- The actor that waits for it; of an effect, empty.
  kind       text not null,
  key        text not null,
  tenant     text not null,
  -- What a node must know to take it, as JSON; null for a message that only waits behind another one of its actor.
  need       text,
  -- A message as its mailbox entry, or an effect as its outbox row; `effect_seq` tells them apart.
  content    text not null,
  effect_seq bigint,
  -- The work whose outcome the message is.
  activity   text,
  parked_at  timestamptz not null default now()
);
create index runtime_parked_in_order on runtime_parked (partition, seq);
create index runtime_parked_of_actor on runtime_parked (kind, key);
create index runtime_parked_of_activity on runtime_parked (activity) where activity is not null;

-- What a partition's owner must know, since it was met there. Few rows, and none once all nodes have one version.
create table runtime_needs (
  partition integer not null,
  need      text not null,
  primary key (partition, need)
);

-- The version of the actor's definition that wrote the state, and of the activity's that wrote the input.
alter table runtime_actors add column format integer not null default 1;
alter table runtime_activities add column format integer not null default 1;
