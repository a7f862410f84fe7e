-- What a run was made from: another run's log, the run before it, a schedule.
alter table workflow_runs
  add column forked_from uuid,
  add column continued_from uuid,
  add column schedule_id text;
