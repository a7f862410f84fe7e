-- Numbers of the events of runs. Redis gives them out; those of events that were shown are kept here.

-- How often the stream of a run was filled: the first time, and after Redis lost it.
create table edge_run_streams (
  run_id    uuid primary key references edge_run_requests (run_id) on delete cascade,
  tenant    text not null,
  fills     integer not null default 0,
  filled_at timestamptz not null default clock_timestamp()
);

create table edge_run_event_ids (
  run_id uuid not null references edge_run_requests (run_id) on delete cascade,
  tenant text not null,
  -- Of the entry in the log of the run's actor.
  seq    integer not null,
  number bigint not null,
  primary key (run_id, seq)
);
create unique index edge_run_event_ids_number on edge_run_event_ids (run_id, number);
