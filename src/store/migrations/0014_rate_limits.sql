-- Limits that take the place of a tier's own. A null tenant or user stands for any.
create table rate_limit_overrides (
  id uuid primary key,
  tenant text,
  user_id text,
  resource text not null,
  bucket text not null,
  limit_value bigint not null check (limit_value >= 0),
  burst_value bigint check (burst_value >= 0),
  check (tenant is not null or user_id is not null),
  unique nulls not distinct (tenant, user_id, resource, bucket)
);
