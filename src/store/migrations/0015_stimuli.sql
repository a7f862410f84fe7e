-- Inbound messages, each of which starts at most one run of a workflow.

-- A row is the stimulus: its acceptance is this row's commit. While `status` is received somebody drives it to its
-- end; `due_at` is when whoever looks first may take it up (again), so it lies ahead while a node is at work on it.
create table stimuli (
  tenant            text not null,
  -- UUIDv7: the order of ids is the order of acceptance.
  id                uuid not null,
  source            text not null,
  channel           text not null check (channel in ('api', 'webhook', 'replay')),
  acknowledge       text not null check (acknowledge in ('routed', 'received')),
  status            text not null default 'received' check
    (status in ('received', 'classified', 'rejected', 'classification_failed', 'start_failed', 'discarded')),
  dead_letter       boolean not null default false,
  content           text not null,
  content_encoding  text not null check (content_encoding in ('utf-8', 'base64')),
  content_type      text,
  -- Bytes, and their digest in hex, before any encoding.
  content_size      integer not null,
  content_sha256    text not null,
  -- JSON: those forwarded.
  headers           text not null,
  headers_truncated boolean not null,
  idempotency_key   text,
  duplicate_count   integer not null default 0,
  route_id          uuid,
  -- Of a replay that names its workflow: `{workflow, version}`.
  override          jsonb,
  -- Minted with the stimulus, so that whoever drives it on starts the same run.
  execution_id      uuid not null,
  -- The agent's execution that classifies it, once one was begun.
  router_execution_id uuid,
  -- The record's `classification_detail`.
  classification    jsonb,
  error_code        text,
  error_message     text,
  -- Further members of the error body.
  error_details     jsonb,
  attempts          integer not null default 0,
  due_at            timestamptz not null,
  replay_of         uuid,
  replayed_by       uuid,
  received_by_kind  text not null,
  received_by_sub   text not null,
  -- Of a person, as the token said: the run's initiator, and whose rate is debited.
  received_by_email text,
  received_by_tier  text,
  received_at       timestamptz not null,
  last_event_at     timestamptz not null,
  discarded_at      timestamptz,
  discarded_by      jsonb,
  discard_reason    text,
  primary key (tenant, id)
);
create index stimuli_due on stimuli (due_at) where status = 'received';
create index stimuli_backlog on stimuli (tenant) where status = 'received' and acknowledge = 'received';
create index stimuli_dead_letters on stimuli (tenant, id) where dead_letter;

-- Who holds an idempotency key, for a day from its acceptance. Written in the commit of the stimulus's row, deleted in
-- the one that ends it without an execution.
create table stimulus_keys (
  tenant      text not null,
  source      text not null,
  -- SHA-256 of the key.
  key_digest  bytea not null,
  stimulus_id uuid not null,
  accepted_at timestamptz not null,
  primary key (tenant, source, key_digest)
);
create index stimulus_keys_age on stimulus_keys (accepted_at);
