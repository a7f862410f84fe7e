-- Timers of actors, written and deleted by the commits of their turns. The owner of the partition fires them.
create table runtime_timers (
  partition integer not null,
  -- Unix milliseconds by PostgreSQL's clock.
  due       bigint not null,
  -- A number of the partition's outbox: tells a timer from an earlier one of the same name.
  fence     bigint not null,
  kind      text not null,
  key       text not null,
  tenant    text not null,
  timer     text not null,
  -- The message that it becomes.
  type      text not null,
  body      text not null
);
create index runtime_timers_due on runtime_timers (partition, due, fence);

-- The timers of the actor that are waiting: {"<name>": [due, fence]}, as JSON. Null: none.
alter table runtime_actors add column timers text;

-- Actors whose timers the former version kept in Redis alone. The owners of their partitions write the timers that the
-- states ask for, and delete these rows; the table goes with the next version.
create table runtime_rearm (
  kind   text not null,
  key    text not null,
  tenant text not null,
  primary key (kind, key)
);
insert into runtime_rearm (kind, key, tenant)
  select 'execution', execution_id::text, tenant from executions where ended_at is null
  union all select 'workflow_run', run_id::text, tenant from workflow_runs where ended_at is null
  union all select 'approval', approval_id::text, tenant from approvals where status = 'pending';

-- What takes work over looks for work without a node, and for that of nodes that are gone.
create index runtime_activities_unowned on runtime_activities (created_at) where node is null;
