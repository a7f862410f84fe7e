-- Executions that go on together, one row for each execution that may found such a swarm and has ended or started another
-- one. Written with the turns of its actor; a row without members is no swarm yet.
create table swarms (
  swarm_id     uuid primary key,
  tenant       text not null,
  status       text not null,
  created_at   timestamptz not null,
  dissolved_at timestamptz,
  -- In the order in which they joined, ended ones too.
  member_ids   uuid[] not null
);
create index swarms_newest on swarms (tenant, created_at desc, swarm_id desc) where member_ids <> '{}';
create index swarms_by_status on swarms (tenant, status, created_at desc, swarm_id desc) where member_ids <> '{}';
create index swarms_of_tenant on swarms (tenant) where member_ids = '{}';
