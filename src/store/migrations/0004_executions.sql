-- What lists of executions are filtered and ordered by; derived from the actors' states in the same transaction.
create table executions (
  execution_id          uuid primary key,
  tenant                text not null,
  agent_id              uuid not null,
  status                text not null,
  created_at            timestamptz not null,
  -- Equals created_at while pending.
  started_at            timestamptz not null,
  ended_at              timestamptz,
  labels                jsonb not null,
  workflow_name         text,
  workflow_execution_id text,
  parent_execution_id   text
);
create index executions_newest on executions (tenant, created_at desc, execution_id desc);
create index executions_newest_of_agent on executions (tenant, agent_id, created_at desc, execution_id desc);
create index executions_of_agent_unfinished on executions (agent_id) where ended_at is null;
create index executions_ended on executions (ended_at) where ended_at is not null;

-- Keys that sign execution tokens: made by the first node, used by all. One is current; retired ones verify.
create table gateway_keys (
  kid         text primary key,
  public_jwk  text not null,
  private_jwk text not null,
  created_at  timestamptz not null default now()
);
