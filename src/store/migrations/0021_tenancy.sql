-- What a tenant may have, who its people are, and when it ends.

-- The tier follows from the columns here alone (actors/identity/standing.ts); no query compares tiers. `status` keeps
-- the words that former versions know: a tenant that was purged is a deleted one with `purged_at`.
alter table tenants
  -- Set by an administrator; stronger than all else.
  add column admin_tier text check (admin_tier in ('free', 'pro', 'business', 'enterprise')),
  -- Of its subscriptions: null until one was live for the first time, `free` when they are over.
  add column subscription_tier text check (subscription_tier in ('free', 'pro', 'business', 'enterprise')),
  -- Of a consumer's own tenant: what the newest token of its owner claimed, and when that was issued, Unix seconds.
  add column claimed_tier text check (claimed_tier in ('free', 'pro', 'business', 'enterprise')),
  add column claimed_iat bigint,
  -- Of a team: the tier it was made with, and its owner's own tenant, whose tier bounds it.
  add column team_tier text check (team_tier in ('business', 'enterprise')),
  add column owner_tenant text,
  -- Null: as the tier has it; -1: any number.
  add column max_concurrent_executions bigint check (max_concurrent_executions >= -1),
  add column max_agents bigint check (max_agents >= -1),
  add column max_storage_gb bigint check (max_storage_gb >= -1),
  -- Whose first sign-in makes its owner, while it has none.
  add column owner_email text,
  -- Null: `tenant-<slug>` and `tenant-<slug>/`.
  add column idp_realm text,
  add column vault_namespace text,
  add column suspended_at timestamptz,
  add column suspend_reason text,
  add column deleted_at timestamptz,
  -- When a deleted one is erased, and when it was; the row and its audit log stay.
  add column purge_at timestamptz,
  add column purged_at timestamptz;
create index tenants_purge on tenants (purge_at) where purge_at is not null and purged_at is null;
create index tenants_of_owner on tenants (owner_tenant) where owner_tenant is not null;

-- People and machines as their newest token told of them. A subject is one of its realm: two realms may issue the same
-- subject for different people.
create table users (
  realm         text not null,
  user_id       text not null,
  kind          text not null check (kind in ('consumer', 'operator', 'service_account', 'tenant_user')),
  -- The OAuth client of a machine.
  client_id     text,
  -- Only one that the identity provider vouches for.
  email         text,
  -- Of the platform's own people and machines: what their API keys have is read here.
  role          text check (role in ('readonly', 'operator', 'admin')),
  -- When the token was issued, Unix seconds: an older one that is seen later changes nothing.
  token_iat     bigint not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at  timestamptz not null default now(),
  primary key (realm, user_id)
);

alter table tenant_members
  add column id uuid not null default gen_random_uuid(),
  add column status text not null default 'active' check (status in ('active', 'revoked')),
  add column revoked_at timestamptz;
create unique index tenant_members_id on tenant_members (id);
-- The tenants of a person.
create index tenant_members_of_user on tenant_members (realm, user_id);
