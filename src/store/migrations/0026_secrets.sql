-- Secrets of tenants, where they are kept here rather than in a vault (SVC_SECRETS_BACKEND).
create table secrets (
  id         uuid primary key,
  tenant     text not null,
  path       text not null collate "C",
  -- Counts on over deletions, so that a version never names two values.
  version    bigint not null check (version > 0),
  encoding   text not null check (encoding in ('plaintext', 'base64', 'data')),
  -- Null: deleted. The row stays for a while, for its version's sake.
  ciphertext text,
  -- Of the value, decoded.
  size_bytes integer not null,
  -- The piece of work that wrote this version: the same one repeated writes nothing.
  written_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  check ((ciphertext is null) = (deleted_at is not null)),
  unique (tenant, path)
);
create index secrets_deleted on secrets (deleted_at) where deleted_at is not null;
