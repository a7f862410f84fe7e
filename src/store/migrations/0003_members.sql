-- Users of a tenant's own realm, from their first request on; one of them is its owner.
create table tenant_members (
  tenant     text not null,
  realm      text not null,
  user_id    text not null,
  role       text not null check (role in ('owner', 'admin', 'member')),
  created_at timestamptz not null default now(),
  primary key (tenant, realm, user_id)
);
create unique index tenant_members_owner on tenant_members (tenant) where role = 'owner';
