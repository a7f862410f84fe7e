-- What executions of a swarm hold alone, for a time. The swarm has the id of the execution that founded it.
create table swarm_locks (
  tenant      text not null,
  swarm_id    uuid not null,
  resource_id text not null,
  held_by     uuid not null,
  acquired_at timestamptz not null,
  expires_at  timestamptz not null,
  primary key (tenant, swarm_id, resource_id)
);
create index swarm_locks_expired on swarm_locks (expires_at);

-- What they send each other. A message that was received keeps its row for a day, without what it said.
create table swarm_messages (
  tenant        text not null,
  swarm_id      uuid not null,
  id            uuid not null,
  -- Counts up: the order of sending.
  position      bigint generated always as identity,
  sender        uuid not null,
  receiver      uuid not null,
  -- Null once it was received.
  payload       text,
  payload_bytes integer not null,
  sent_at       timestamptz not null,
  received_at   timestamptz,
  -- Of the call that received it: the same call again gets the same messages.
  received_by   uuid,
  primary key (tenant, id)
);
create index swarm_messages_waiting on swarm_messages (tenant, swarm_id, receiver, position) where received_at is null;
create index swarm_messages_received on swarm_messages (tenant, swarm_id, received_by) where received_by is not null;
create index swarm_messages_sent on swarm_messages (sent_at);
