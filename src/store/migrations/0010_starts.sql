-- What a tenant has under way is counted against its quota.
create index executions_unfinished on executions (tenant) where ended_at is null;
