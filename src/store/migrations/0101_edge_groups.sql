-- Groups of edge hosts, and what hosts say of themselves, by which selectors find them. A host that has never connected
-- says nothing.
alter table edge_hosts
  add column os     text,
  add column arch   text,
  add column tools  text[] not null default '{}',
  add column labels jsonb not null default '{}';

create table edge_groups (
  id         uuid primary key,
  tenant     text not null,
  name       text not null,
  -- As actors/edge/selector.ts has it; null selects nothing.
  selector   jsonb,
  created_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create unique index edge_groups_by_name on edge_groups (tenant, name);

create table edge_group_pins (
  group_id uuid not null references edge_groups (id) on delete cascade,
  host_id  uuid not null references edge_hosts (id) on delete cascade,
  primary key (group_id, host_id)
);
create index edge_group_pins_of_host on edge_group_pins (host_id);
