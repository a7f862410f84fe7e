-- What happened to each agent, numbered from 1 without gaps. Stays when the agent is gone.

-- The highest number given; its row is locked while one is taken.
create table agent_event_heads (
  agent_id uuid primary key,
  last bigint not null
);

create table agent_events (
  agent_id uuid not null,
  sequence bigint not null,
  -- Whose the agent was then.
  tenant text not null,
  type text not null,
  body json not null,
  occurred_at timestamptz not null,
  primary key (agent_id, sequence)
);
create index agent_events_age on agent_events (occurred_at);
