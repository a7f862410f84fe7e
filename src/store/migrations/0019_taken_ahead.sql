-- What a partition took before earlier messages of the same source, which wait in the long line of an actor. A row goes once
-- the last number of its source (`runtime_received`) says as much.
create table runtime_received_ahead (
  partition integer not null,
  source text not null,
  seq bigint not null,
  -- The number of the message that it follows.
  after bigint not null,
  at timestamptz not null default now(),
  primary key (partition, source, seq)
);
