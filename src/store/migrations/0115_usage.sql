-- What tenants have used: one row an activity, written in the commit that stores its outcome.
create table usage_activities (
  id            uuid not null,
  -- 1 execution, 2 model call, 3 tool call, 4 sandbox instance, 5 host command.
  kind          smallint not null,
  -- Of a model call: its place within the exchange that `id` names.
  place         integer not null default 0,
  tenant        text not null,
  -- When its outcome was stored: no row of a past hour comes later than its transaction lasts.
  at            timestamptz not null default now(),
  agent_id      text,
  model         text,
  workflow      text,
  tool          text,
  input_tokens  bigint,
  output_tokens bigint,
  cost          numeric,
  duration_ms   bigint,
  primary key (id, kind, place)
);
create index usage_activities_of_tenant on usage_activities (tenant, at);

-- The same summed up by whole hours and by whole days of UTC; made from the rows above.
create table usage_sums (
  tenant        text not null,
  -- 1 or 24.
  hours         smallint not null,
  start         timestamptz not null,
  agent_id      text,
  model         text,
  workflow      text,
  tool          text,
  executions    bigint not null,
  tool_calls    bigint not null,
  input_tokens  bigint not null,
  output_tokens bigint not null,
  cost          numeric not null,
  sandbox_ms    bigint not null,
  host_commands bigint not null
);
create index usage_sums_of_tenant on usage_sums (tenant, hours, start);

-- Bytes in all volumes of a tenant, as they were looked at once within the hour.
create table usage_storage (
  tenant text not null,
  hour   timestamptz not null,
  bytes  bigint not null,
  primary key (tenant, hour)
);

-- How far the work of all nodes has come; one row.
create table usage_progress (
  one         boolean primary key default true check (one),
  -- Hours and days before these are summed up.
  hours_until timestamptz not null,
  days_until  timestamptz not null,
  -- The last hour of which storage was looked at.
  sampled     timestamptz
);
insert into usage_progress (hours_until, days_until)
values (date_trunc('hour', now(), 'UTC'), date_trunc('day', now(), 'UTC'));

-- A tool call of an execution counts for the workflow that the execution belongs to.
alter table tool_invocations add column workflow_name text;
