-- One row per Idempotency-Key seen in the last 24 hours. `work_id` names the piece of work the key stands for:
-- whoever takes an abandoned row over repeats that same work. `holder` works on it until `held_until`.

create table idempotency_keys (
  tenant text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  work_id uuid not null,
  holder uuid,
  held_until timestamptz,
  status smallint,
  headers jsonb,
  body text,
  created_at timestamptz not null default now(),
  primary key (tenant, route, key)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);
