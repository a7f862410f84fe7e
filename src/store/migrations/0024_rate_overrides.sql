-- Limits that take the place of a tier's own: by realm and subject, and -1 for none at all, which former versions would
-- take for a limit. Their table stays for them; it goes one release later.
create table rate_overrides (
  id          uuid primary key,
  -- A null tenant or person stands for any.
  tenant      text,
  -- Of the person.
  realm       text,
  user_id     text,
  -- The consumer's tenant that the person owns: there the person's override is the tenant's as well.
  owns        text,
  resource    text not null,
  bucket      text not null,
  limit_value bigint not null check (limit_value >= -1),
  burst_value bigint check (burst_value >= limit_value),
  created_by  jsonb not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  check (tenant is not null or user_id is not null),
  check ((realm is null) = (user_id is null)),
  unique nulls not distinct (tenant, realm, user_id, resource, bucket)
);
create index rate_overrides_of_user on rate_overrides (realm, user_id) where user_id is not null;
create index rate_overrides_of_owner on rate_overrides (owns) where owns is not null;
-- The list, newest first.
create index rate_overrides_listed on rate_overrides (created_at desc, id desc);

-- No route of a former version set any; what was set by hand is carried over. People without a tenant's realm are of the
-- realm of consumers.
insert into rate_overrides (id, tenant, realm, user_id, owns, resource, bucket, limit_value, burst_value, created_by)
select id, tenant,
  case
    when user_id is null then null
    when tenant = 'svc-system' then 'svc-system'
    when tenant is not null and tenant !~ '^[ut]-' then 'tenant-' || tenant
    else 'svc-consumer'
  end,
  user_id,
  case
    when user_id is null or (tenant is not null and tenant !~ '^u-') then null
    when lower(replace(user_id, '-', '')) ~ '^[a-z0-9]{1,61}$' then 'u-' || lower(replace(user_id, '-', ''))
    else 'u-' || left(encode(sha256(convert_to(user_id, 'UTF8')), 'hex'), 32)
  end,
  resource, bucket, limit_value, case when burst_value >= limit_value then burst_value end,
  '{"kind": "system", "realm": null, "user_id": null, "role": null, "key_id": null, "name": "migration"}'
from rate_limit_overrides;

-- A subject is one of its realm: whose rate is debited.
alter table stimuli add column received_by_realm text;
