-- States of runs that wait for a stimulus, each a row for as long as it waits, and which of them took which stimulus.
create table workflow_waits (
  -- The run, or the child record of items of its Map.
  taker       uuid not null,
  -- Of the state, in the life of the taker.
  entry       integer not null,
  tenant      text not null,
  source      text not null,
  state_name  text not null,
  -- A path of the payload, and the SHA-256 of what its value prints as; both empty: any payload.
  key         text not null,
  equals      bytea not null,
  -- An expression over payload and headers; null: none.
  match       text,
  since       timestamptz not null,
  primary key (taker, entry)
);
-- What a stimulus may fit is found by its source and by what stands at the keys that are waited for there.
create index workflow_waits_fitting on workflow_waits (tenant, source, key, equals, taker, entry);

create table stimulus_takers (
  tenant      text not null,
  stimulus_id uuid not null,
  taker       uuid not null,
  state_name  text not null,
  -- The run; the taker itself where that is one.
  run_id      uuid not null,
  taken_at    timestamptz not null,
  primary key (tenant, stimulus_id, taker, state_name)
);
