-- Credentials of users and tenants for services outside, what may use them, and consents that are under way.
create table credentials (
  id               uuid primary key,
  tenant           text not null,
  provider         text collate "C" not null,
  credential_type  text not null check (credential_type in ('secret', 'variable', 'service_account', 'oauth2')),
  label            text,
  -- `personal`: its owner's alone; `tenant`: of everybody in the tenant who may use credentials.
  scope            text not null check (scope in ('personal', 'tenant')),
  status           text not null check (status in ('pending_oauth', 'active', 'expired', 'revoked')),
  -- Who made it: a subject is one of its realm.
  realm            text not null,
  user_id          text not null,
  metadata         jsonb not null default '{}',
  oauth_scopes     text[] not null default '{}',
  -- Counts what was stored under this id; the ciphertext is bound to it.
  version          integer not null default 1,
  -- Null before a consent, and after a revocation.
  ciphertext       text,
  expires_at       timestamptz,
  -- Of OAuth tokens: when the access token ends, and when it is to be refreshed.
  token_expires_at timestamptz,
  refresh_due_at   timestamptz,
  -- The refresh that is under way, on any node, and until when it has the row to itself.
  refresh_by       uuid,
  refresh_until    timestamptz,
  refresh_failures integer not null default 0,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  last_used_at     timestamptz
);
create index credentials_listed on credentials (tenant, created_at, id);
create index credentials_of_provider on credentials (tenant, provider, created_at) where status = 'active';
create index credentials_to_refresh on credentials (refresh_due_at)
  where status = 'active' and refresh_due_at is not null;
create index credentials_pending on credentials (created_at) where status = 'pending_oauth';
create index credentials_expiring on credentials (expires_at) where status = 'active' and expires_at is not null;

create table credential_grants (
  id            uuid primary key,
  tenant        text not null,
  credential_id uuid not null references credentials on delete cascade,
  target_type   text not null check (target_type in ('agent', 'workflow', 'all_agents')),
  -- The agent's id, the workflow's name; empty for all agents.
  target_value  text not null,
  created_by    jsonb not null,
  created_at    timestamptz not null default now(),
  -- When it was last asked for: what others deployed before then is covered as well.
  confirmed_at  timestamptz not null default now(),
  expires_at    timestamptz,
  ended_at      timestamptz
);
create unique index credential_grants_live on credential_grants (credential_id, target_type, target_value)
  where ended_at is null;

-- Consents that were begun: by a redirect (`code`) or with another device. Kept 24 hours, so that a state that was used
-- or is too old is told from one that was never given.
create table oauth_attempts (
  id            uuid primary key,
  tenant        text not null,
  -- SHA-256 of the state, or of the device code that the caller holds.
  hash          text collate "C" not null unique,
  kind          text not null check (kind in ('code', 'device')),
  credential_id uuid not null,
  provider      text collate "C" not null,
  -- Who began it, also as the audit log names them.
  realm         text not null,
  user_id       text not null,
  actor         jsonb not null,
  redirect_uri  text,
  oauth_scopes  text[] not null default '{}',
  -- The verifier of PKCE, or the provider's device code; erased when the attempt ends.
  ciphertext    text,
  interval_s    integer,
  next_poll_at  timestamptz,
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  outcome       text check (outcome in ('approved', 'denied', 'expired', 'failed', 'revoked'))
);
create index oauth_attempts_due on oauth_attempts (expires_at);
create index oauth_attempts_of_credential on oauth_attempts (credential_id);
