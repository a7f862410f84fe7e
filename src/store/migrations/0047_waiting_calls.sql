-- Tool calls outside of an agent's loop that wait for people, or for what is to be asked of them.
create table waiting_calls (
  invocation_id uuid primary key,
  tenant text not null,
  principal text not null,
  session_id text,
  execution_id text,
  -- From here on it counts no longer: a place that was taken for a call which was never opened frees itself.
  until timestamptz not null
);
create index waiting_calls_principal on waiting_calls (tenant, principal);
create index waiting_calls_session on waiting_calls (session_id) where session_id is not null;
create index waiting_calls_execution on waiting_calls (execution_id) where execution_id is not null;
