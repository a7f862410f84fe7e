-- Keys that people and machines make to call with in place of a token, and what their owners' tokens told last.

create table api_keys (
  id                  uuid primary key,
  -- Where the key acts.
  tenant              text not null,
  -- Whose it is: what it may is what this person or machine may now, as far as `scopes` go.
  realm               text not null,
  user_id             text not null,
  kind                text not null check (kind in ('consumer', 'operator', 'service_account', 'tenant_user')),
  -- The OAuth client of a machine.
  client_id           text,
  name                text not null,
  scopes              text[] not null,
  -- SHA-256 of the value in hex; the value itself is not kept.
  hash                text not null unique,
  prefix              text not null,
  last4               text not null,
  -- Of the value before the latest rotation, and until when that still opens.
  previous_hash       text unique,
  previous_expires_at timestamptz,
  rotated_at          timestamptz,
  -- The piece of work that rotated it last: a repeat of it after a crash takes no further value away.
  rotation_id         uuid,
  -- The key it was made with; it ends with that.
  parent_id           uuid references api_keys (id) on delete cascade,
  expires_at          timestamptz,
  -- How long a value holds by default, seconds; null: without end.
  lifetime_seconds    bigint,
  revoked_at          timestamptz,
  last_used_at        timestamptz,
  created_at          timestamptz not null
);
create index api_keys_of_owner on api_keys (tenant, realm, user_id, id);
-- A person's keys in every tenant, which are counted together.
create index api_keys_of_person on api_keys (realm, user_id) where revoked_at is null;
create index api_keys_of_parent on api_keys (parent_id) where parent_id is not null;
-- Those that ended long ago are erased.
create index api_keys_ended on api_keys (least(revoked_at, expires_at));

alter table users
  add column name text,
  -- What the newest token claimed the person to be in the tenant of its realm; null: nothing.
  add column member_role text check (member_role in ('owner', 'admin', 'member'));

-- Answers with a value that is shown once are kept encrypted: then `body` is null.
alter table idempotency_keys
  add column sealed text;
