-- What executions lose iterations by, and what helped: written by their turns, folded into patterns behind them.

-- Not folded yet. Written in the commits of turns, which wait for no row of another turn.
create table cortex_lessons (
  seq              bigint generated always as identity primary key,
  tenant           text not null,
  at               timestamptz not null,
  execution_id     uuid not null,
  iteration_number integer not null,
  kind             text not null,
  error_type       text,
  -- The message of an iteration that was lost, the answer of one that passed.
  content          text not null,
  -- No iteration of the execution follows.
  is_last          boolean not null
);
create index cortex_lessons_of_tenant on cortex_lessons (tenant);

create table cortex_patterns (
  tenant               text not null,
  -- SHA-256 of the signature, hex.
  error_signature_hash text not null,
  id                   uuid not null,
  error_signature      text not null,
  error_type           text not null,
  -- As it was seen last.
  error_message        text not null,
  solution             text,
  solution_code        text,
  -- Iterations lost, executions that lost any, and those of them in which a later iteration passed.
  frequency            bigint not null,
  total_count          bigint not null,
  success_count        bigint not null default 0,
  created_at           timestamptz not null,
  last_used_at         timestamptz not null,
  primary key (tenant, error_signature_hash)
);
create index cortex_patterns_of_tenant on cortex_patterns (tenant, created_at desc, id desc);
create index cortex_patterns_of_type on cortex_patterns (tenant, error_type, created_at desc, id desc);
create index cortex_patterns_by_use on cortex_patterns (tenant, last_used_at desc);
create index cortex_patterns_by_age on cortex_patterns (last_used_at);

-- What executions under way have lost iterations by.
create table cortex_losses (
  tenant               text not null,
  execution_id         uuid not null,
  error_signature_hash text not null,
  at                   timestamptz not null,
  primary key (tenant, execution_id, error_signature_hash)
);
create index cortex_losses_by_age on cortex_losses (at);
