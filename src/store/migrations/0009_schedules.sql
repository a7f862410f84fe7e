-- Agents that start by themselves, and the stream of what happens to an agent and to its executions.

create index agent_versions_scheduled on agent_versions (version_id) where (spec ->> 'schedule') is not null;

-- The latest moment at which each agent was started by its schedule: one start per moment, one after the other.
create table schedule_fires (
  agent_id uuid primary key references agents on delete cascade,
  fire_at timestamptz not null,
  execution_id uuid not null
);

-- One numbered sequence per tenant and agent, made once somebody reads it.
create table agent_streams (
  tenant text not null,
  agent_id uuid not null,
  -- Whoever adds to the sequence raises it: two cannot at once.
  version bigint not null default 0,
  -- The highest id given.
  last_id bigint not null default 0,
  -- The agent's own events are taken up to this one.
  agent_sequence bigint not null default 0,
  -- Executions made well before this are all taken in.
  admitted_until timestamptz not null default 'epoch',
  primary key (tenant, agent_id)
);

-- Executions of such a sequence.
create table agent_stream_runs (
  execution_id uuid primary key references executions on delete cascade,
  tenant text not null,
  agent_id uuid not null,
  -- Events up to this one have their id.
  sequence bigint not null,
  -- It ended, and every event has its id.
  is_over boolean not null,
  foreign key (tenant, agent_id) references agent_streams on delete cascade
);
create index agent_stream_runs_open on agent_stream_runs (tenant, agent_id) where not is_over;
create index agent_stream_runs_of_stream on agent_stream_runs (tenant, agent_id);

-- The event behind each id. Rows go with their execution; ids are not given again.
create table agent_stream_entries (
  tenant text not null,
  agent_id uuid not null,
  id bigint not null,
  -- Null: one of the agent's own events.
  execution_id uuid references agent_stream_runs on delete cascade,
  sequence bigint not null,
  primary key (tenant, agent_id, id),
  foreign key (tenant, agent_id) references agent_streams on delete cascade
);
create index agent_stream_entries_of_run on agent_stream_entries (execution_id);
