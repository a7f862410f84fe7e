-- What was used in an hour, to be told to the meters of the payment provider: each figure of a tenant once.
create table usage_pushes (
  tenant      text not null,
  figure      text not null,
  hour        timestamptz not null,
  -- As it is told.
  value       text not null,
  -- The provider's.
  customer_id text not null,
  -- due, pushed, failed.
  state       text not null default 'due',
  attempts    integer not null default 0,
  -- The provider tells repeats for a day from the first attempt on; none comes later.
  first_at    timestamptz,
  due_at      timestamptz not null default now(),
  primary key (tenant, figure, hour)
);
create index usage_pushes_due on usage_pushes (due_at) where state = 'due';
create index usage_pushes_by_age on usage_pushes (hour);

-- Hours before this one are put down to be pushed; null: no meter was ever set.
alter table usage_progress add column pushed_until timestamptz;
