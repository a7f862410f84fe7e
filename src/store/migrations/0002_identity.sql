-- Who the service works for, and the keys of the development issuer.

create table tenants (
  slug text primary key,
  kind text not null check (kind in ('system', 'consumer', 'team', 'enterprise')),
  status text not null default 'active' check (status in ('active', 'suspended', 'deleted')),
  display_name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

insert into tenants (slug, kind, display_name) values ('svc-system', 'system', 'svc-system');

-- One key per algorithm; every node signs with and publishes the same ones.
create table development_issuer_keys (
  algorithm text primary key,
  private_jwk jsonb not null,
  created_at timestamptz not null default now()
);
