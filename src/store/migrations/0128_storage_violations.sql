-- What was refused for the sake of volumes: paths that lead out, quotas, volumes of others.

create table storage_violations (
  id           uuid primary key,
  tenant       text not null,
  category     text not null,
  -- Only where the caller sees the volume.
  volume_id    uuid,
  execution_id text,
  path         text,
  operation    text not null,
  details      jsonb not null,
  -- Equal ones of a minute.
  count        bigint not null,
  created_at   timestamptz not null,
  last_seen_at timestamptz not null
);
create index storage_violations_of_tenant on storage_violations (tenant, created_at desc, id desc);
create index storage_violations_newest on storage_violations (created_at desc, id desc);
create index storage_violations_of_execution on storage_violations (tenant, execution_id, created_at desc)
  where execution_id is not null;
create index storage_violations_age on storage_violations (last_seen_at);
