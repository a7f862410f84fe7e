-- The embedded identity provider: its people, what they signed in with, its keys, and what its protocol keeps.

-- `tenant` is the tenant whose people they are: the one of a tenant's realm, `svc-system` for operators and consumers.
create table people (
  -- The subject of the person's tokens.
  id                  uuid primary key,
  tenant              text not null,
  realm               text not null,
  email               text not null,
  -- In lower case: an address is one person's in its realm.
  email_folded        text collate "C" not null,
  email_verified      boolean not null default false,
  name                text,
  -- Of operators alone.
  role                text check (role in ('readonly', 'operator', 'admin')),
  status              text not null check (status in ('invited', 'active', 'disabled')),
  -- Null: the person has set none yet, or signs in by another identity provider.
  password_hash       text,
  -- Whether the next sign-in sets a new one.
  password_expired    boolean not null default false,
  -- Encrypted; `totp_confirmed_at` is null until the first code was right.
  totp_ciphertext     text,
  totp_version        integer not null default 0,
  totp_confirmed_at   timestamptz,
  -- The last step whose code was taken: each is good once.
  totp_step           bigint,
  last_sign_in_at     timestamptz,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  unique (realm, email_folded)
);
create index people_of_realm on people (realm, created_at, id);
create index people_of_tenant on people (tenant);

create table person_recovery_codes (
  person_id uuid not null references people (id) on delete cascade,
  tenant    text not null,
  hash      text not null,
  used_at   timestamptz,
  primary key (person_id, hash)
);

-- Links and steps of a sign-in that were begun; the tokens themselves are stored nowhere.
create table person_tokens (
  hash       text primary key,
  person_id  uuid not null references people (id) on delete cascade,
  tenant     text not null,
  purpose    text not null check (purpose in ('invitation', 'sign_up', 'reset', 'sign_in')),
  -- Of a sign-in: the interaction that it belongs to.
  bound_to   text,
  expires_at timestamptz not null,
  used_at    timestamptz
);
create index person_tokens_of_person on person_tokens (person_id);
create index person_tokens_expired on person_tokens (expires_at);

-- By a digest of the address, whether there is such an account or not.
create table sign_in_failures (
  realm        text not null,
  address      text not null,
  tenant       text not null,
  -- Of the last quarter of an hour, the newest last.
  failed_at    timestamptz[] not null,
  locked_until timestamptz,
  primary key (realm, address)
);

-- Sessions, grants, codes and refresh tokens. Ids are bearer secrets, so only their digests are stored.
create table issuer_records (
  id          uuid primary key default gen_random_uuid(),
  tenant      text not null,
  realm       text not null,
  model       text not null,
  digest      text not null,
  grant_id    text,
  uid         text,
  user_code   text,
  person_id   uuid,
  -- Of sessions: the browser as it calls itself.
  user_agent  text,
  ciphertext  text not null,
  consumed_at timestamptz,
  created_at  timestamptz not null default now(),
  used_at     timestamptz not null default now(),
  expires_at  timestamptz not null,
  unique (realm, model, digest)
);
create index issuer_records_of_grant on issuer_records (realm, grant_id) where grant_id is not null;
create index issuer_records_of_uid on issuer_records (realm, uid) where uid is not null;
create index issuer_records_of_user_code on issuer_records (realm, user_code) where user_code is not null;
create index issuer_records_of_person on issuer_records (person_id) where person_id is not null;
create index issuer_records_expired on issuer_records (expires_at);

create table issuer_keys (
  id         uuid primary key,
  tenant     text not null,
  -- `signing`: of tokens. `cookies`: of the cookies' signatures.
  purpose    text not null check (purpose in ('signing', 'cookies')),
  -- Null for `cookies`.
  public_jwk jsonb,
  ciphertext text not null,
  created_at timestamptz not null,
  -- Published before it is used, so that every node knows it when the first token comes.
  used_from  timestamptz not null
);
create index issuer_keys_of_purpose on issuer_keys (purpose, used_from);
