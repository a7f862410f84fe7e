-- Hosts that run daemons: the keys that the service signs with towards them, tokens they enroll by, the hosts themselves
-- with their keys, and groups of them.

-- As seal_keys.
create table edge_signing_keys (
  id         uuid primary key,
  tenant     text not null default 'svc-system',
  kid        text not null unique,
  public_jwk text not null,
  ciphertext text,
  created_at timestamptz not null default now(),
  used_at    timestamptz not null default now()
);

create table edge_hosts (
  id            uuid primary key,
  tenant        text not null,
  name          text not null,
  tags          text[] not null default '{}',
  -- `<realm>/<sub>` of who issued the token it enrolled by.
  created_by    text not null,
  enrolled_at   timestamptz not null default clock_timestamp(),
  revoked_at    timestamptz,
  agent_version text,
  -- Gets no new commands until it is accepted again.
  held          boolean not null default false
);
create index edge_hosts_by_name on edge_hosts (tenant, name, id);

-- Every key that a host ever had, so that none is taken twice. A host has one current key, and one that is next while it
-- rotates.
create table edge_host_keys (
  public_key bytea primary key,
  tenant     text not null,
  host_id    uuid not null references edge_hosts (id) on delete cascade,
  state      text not null,
  created_at timestamptz not null default clock_timestamp()
);
create unique index edge_host_keys_in_use on edge_host_keys (host_id, state) where state <> 'dropped';
create index edge_host_keys_of_host on edge_host_keys (host_id, created_at);

create table edge_enrollment_tokens (
  id           uuid primary key,
  tenant       text not null,
  name         text,
  tags         text[] not null default '{}',
  -- SHA-256 of its text.
  digest       bytea not null unique,
  issued_by    text not null,
  issued_at    timestamptz not null,
  expires_at   timestamptz not null,
  revoked_at   timestamptz,
  redeemed_at  timestamptz,
  redeemed_key bytea,
  host_id      uuid references edge_hosts (id) on delete cascade
);
create index edge_enrollment_tokens_newest on edge_enrollment_tokens (tenant, issued_at desc, id desc);
create index edge_enrollment_tokens_age on edge_enrollment_tokens (expires_at);
