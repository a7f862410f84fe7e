-- outside of a transaction
drop index concurrently if exists workflow_runs_of_schedule;
create index concurrently workflow_runs_of_schedule on workflow_runs (tenant, schedule_id, started_at desc, run_id desc)
  where schedule_id is not null;
