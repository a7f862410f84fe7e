-- Security contexts of tenants; those of svc-system whose names begin with svc- are seen by all.
create table security_contexts (
  tenant      text not null,
  name        text not null collate "C",
  description text,
  -- Capabilities and deny list.
  spec        jsonb not null,
  -- Null: every identity of the tenant.
  usable_by   jsonb,
  version     bigint not null check (version > 0),
  -- The piece of work that made it: the same one repeated makes nothing.
  made_by     uuid not null,
  updated_by  text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (tenant, name)
);
