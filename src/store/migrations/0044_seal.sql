-- Signed tool calls: keys that security tokens are signed with, and the sessions that attestations open.

-- Private halves are encrypted; of a key given by a setting only the public half is known. A key in use is touched by
-- every node that signs with it, so that one which is not any more is shown until its last token has expired.
create table seal_keys (
  id         uuid primary key,
  tenant     text not null default 'svc-system',
  kid        text not null unique,
  public_jwk text not null,
  ciphertext text,
  created_at timestamptz not null default now(),
  used_at    timestamptz not null default now()
);

-- One row per attestation. An active session past `expires_at` is expired without being written again.
create table seal_sessions (
  id                    uuid primary key,
  tenant                text not null,
  -- Of a detached session ids that name no record.
  execution_id          uuid not null,
  agent_id              uuid not null,
  detached              boolean not null,
  -- The execution's id, or `<realm>/<sub>` of who holds a detached session.
  principal             text not null,
  security_context      text not null,
  -- JSON list; null: the context alone says what may be called.
  allowed_tool_patterns text,
  public_key            bytea not null,
  -- SHA-256.
  token                 bytea not null,
  container_id          text,
  workload_id           text,
  -- Of a session that a sandbox instance opened: it ends with the instance.
  instance_id           uuid,
  iteration_number      integer,
  -- Who opened it, as JSON; null: the execution itself.
  opener                text,
  status                text not null default 'active',
  revoked_reason        text,
  calls                 bigint not null default 0,
  -- What is left of the burst of tool calls, as it was at `attempts_at`.
  attempts_left         double precision not null,
  attempts_at           timestamptz not null default now(),
  created_at            timestamptz not null default now(),
  last_used_at          timestamptz,
  expires_at            timestamptz not null,
  revoked_at            timestamptz
) with (fillfactor = 70);
create index seal_sessions_newest on seal_sessions (tenant, created_at desc, id desc);
create index seal_sessions_of_execution on seal_sessions (execution_id, created_at desc);
create index seal_sessions_of_principal on seal_sessions (tenant, principal, created_at desc);
create index seal_sessions_age on seal_sessions (created_at);

-- What is left of the burst of tool calls of callers that have no session.
create table tool_call_attempts (
  tenant        text not null,
  principal     text not null,
  attempts_left double precision not null,
  attempts_at   timestamptz not null default now(),
  primary key (tenant, principal)
) with (fillfactor = 70);
