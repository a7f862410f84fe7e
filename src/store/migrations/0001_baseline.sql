-- The whole schema. Tables stand in groups: the actor runtime, identity and HTTP, agents, executions, workflows,
-- approvals, stimuli, volumes, limits, and security records. `docs/reference` describes what each feature keeps.

------------------------------------------------------------------------------------------------------------------------
-- The actor runtime. src/runtime/README.md says what each table guarantees.
------------------------------------------------------------------------------------------------------------------------

-- One row per node process. A node is alive while its heartbeat is fresh.
create table runtime_nodes (
  id           text primary key,
  -- The machine, as far as running sandboxes go: nodes on one data directory share it.
  host         text not null,
  -- Where `pid` means something: boot id and pid namespace. Within it a dead process is noticed at once.
  pid_scope    text not null,
  pid          integer not null,
  heartbeat_at timestamptz not null,
  draining     boolean not null default false,
  started_at   timestamptz not null default now()
);

-- Who owns a partition (fenced by `epoch`), and how far its mailbox and its outbox have come.
-- `mailbox_offset` is the stream id of the last message whose turn is committed;
-- `sources` holds, per sender, the last sequence number taken, so that repeats are dropped.
create table runtime_partitions (
  partition      integer primary key,
  epoch          bigint not null default 0,
  owner          text,
  mailbox_offset text not null default '0-0',
  sources        text not null default '[]',
  outbox_seq     bigint not null default 0
) with (fillfactor = 20);

-- The state of every actor. States are rewritten with every turn: kept in the row as they are, up to a page, rather
-- than compressed and moved aside from 2 kB on.
create table runtime_actors (
  kind       text not null,
  key        text not null,
  tenant     text not null,
  partition  integer not null,
  version    bigint not null,
  -- Last sequence number of each of the actor's logs, as JSON.
  logs       text not null,
  -- The state, as JSON, without the listed members.
  state      text not null,
  -- Members of the state that lists read, as JSON; null for a kind that has no lists.
  listed     text,
  updated_at timestamptz not null default now(),
  primary key (kind, key)
) with (fillfactor = 70, toast_tuple_target = 8160);

-- What actors emitted, numbered per actor and log from 1 without gaps.
create table runtime_logs (
  kind  text not null,
  key   text not null,
  log   text not null,
  seq   bigint not null,
  -- Unix milliseconds of the turn.
  at    bigint not null,
  entry text not null,
  primary key (kind, key, log, seq)
) with (toast_tuple_target = 8160);

-- Effects that are committed but perhaps not carried out yet; in order per partition.
create table runtime_outbox (
  partition integer not null,
  seq       bigint not null,
  effect    text not null,
  primary key (partition, seq)
);

-- Slow or outside work under way. `node` runs it; another node takes it over when that one is gone.
create table runtime_activities (
  id          text primary key,
  kind        text not null,
  key         text not null,
  tenant      text not null,
  name        text not null,
  input       text not null,
  reply_type  text not null,
  node        text,
  host        text not null,
  host_bound  boolean not null,
  attempt     integer not null default 0,
  abandoned   boolean not null default false,
  created_at  timestamptz not null default now(),
  released_at timestamptz
);
create index runtime_activities_node on runtime_activities (node);

-- Messages whose handler failed for good; an operator may replay them.
create table runtime_dead_letters (
  id          uuid primary key,
  partition   integer not null,
  kind        text not null,
  key         text not null,
  tenant      text not null,
  message_id  text not null,
  type        text not null,
  body        text not null,
  error       text not null,
  attempts    integer not null,
  created_at  timestamptz not null default now(),
  replayed_at timestamptz
);
create index runtime_dead_letters_age on runtime_dead_letters (created_at desc);

-- How many actors of a kind there are, by tenant and subject (executions by agent, say): the sum over `shard`. A commit
-- adds to the row of its connection's shard, so commits do not wait for each other.
create table runtime_counters (
  kind    text not null,
  tenant  text not null,
  subject text not null,
  shard   smallint not null,
  count   bigint not null,
  primary key (kind, tenant, subject, shard)
) with (fillfactor = 20);

-- Ends the transaction when a partition was taken over: its former owner must not commit.
create function runtime_require_ownership(held boolean) returns void language plpgsql as $$
begin
  if not held then
    raise exception 'partition lost' using errcode = 'SVF01';
  end if;
end $$;

------------------------------------------------------------------------------------------------------------------------
-- Identity and HTTP
------------------------------------------------------------------------------------------------------------------------

-- The tenants the service works for.
create table tenants (
  slug         text primary key,
  kind         text not null check (kind in ('system', 'consumer', 'team', 'enterprise')),
  status       text not null default 'active' check (status in ('active', 'suspended', 'deleted')),
  display_name text not null,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
);
insert into tenants (slug, kind, display_name) values ('svc-system', 'system', 'svc-system');

-- Keys of the development issuer, one per algorithm: every node signs with and publishes the same ones.
create table development_issuer_keys (
  algorithm   text primary key,
  private_jwk jsonb not null,
  created_at  timestamptz not null default now()
);

-- Keys that sign execution tokens: made by the first node, used by all. One is current; retired ones verify.
create table gateway_keys (
  kid         text primary key,
  public_jwk  text not null,
  private_jwk text not null,
  created_at  timestamptz not null default now()
);

-- One row per Idempotency-Key seen in the last 24 hours. `work_id` names the work the key stands for: a request that
-- takes an abandoned row over repeats that same work. `holder` works on it until `held_until`.
create table idempotency_keys (
  tenant      text not null,
  route       text not null,
  key         text not null,
  fingerprint text not null,
  work_id     uuid not null,
  holder      uuid,
  held_until  timestamptz,
  status      smallint,
  headers     jsonb,
  body        text,
  created_at  timestamptz not null default now(),
  primary key (tenant, route, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

------------------------------------------------------------------------------------------------------------------------
-- Agents
------------------------------------------------------------------------------------------------------------------------

-- Agents. Names and versions compare byte by byte.
create table agents (
  agent_id            uuid primary key,
  tenant              text not null,
  name                text collate "C" not null,
  scope               text not null default 'tenant' check (scope in ('tenant', 'global')),
  -- Where a promoted agent came from and returns to.
  origin_tenant       text,
  status              text not null default 'active' check (status in ('active', 'paused', 'archived')),
  current_version_id  uuid not null,
  previous_version_id uuid,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  -- Set: gone for every reader; the row stays until the agent's executions are cancelled.
  deleted_at          timestamptz
);
create unique index agents_name on agents (tenant, name) where deleted_at is null;
create index agents_global on agents (name) where scope = 'global' and deleted_at is null;
create index agents_deleted on agents (deleted_at) where deleted_at is not null;

-- Every version ever deployed of an agent. Rows never change: a forced deploy adds a revision.
create table agent_versions (
  version_id    uuid primary key,
  agent_id      uuid not null references agents on delete cascade,
  tenant        text not null,
  version       text collate "C" not null,
  revision      integer not null,
  agent_type    text not null,
  labels        jsonb not null,
  -- json, not jsonb: what was deployed is given back member by member in its order.
  metadata      json not null,
  input_schema  json,
  document      json not null,
  manifest_yaml text not null,
  -- The resolved manifest that executions start from.
  spec          json not null,
  deployed_at   timestamptz not null,
  deployed_by   text not null,
  unique (agent_id, version, revision)
);
-- Agents that start by themselves.
create index agent_versions_scheduled on agent_versions (version_id) where (spec ->> 'schedule') is not null;

-- The highest number given to an event of an agent; its row is locked while one is taken.
create table agent_event_heads (
  agent_id uuid primary key,
  last     bigint not null
);

-- What happened to each agent, numbered from 1 without gaps. Stays when the agent is gone.
create table agent_events (
  agent_id    uuid not null,
  sequence    bigint not null,
  -- The tenant that owned the agent then.
  tenant      text not null,
  type        text not null,
  body        json not null,
  occurred_at timestamptz not null,
  primary key (agent_id, sequence)
);
create index agent_events_age on agent_events (occurred_at);

-- The latest moment at which each agent was started by its schedule: one start per moment, one after the other.
create table schedule_fires (
  agent_id     uuid primary key references agents on delete cascade,
  fire_at      timestamptz not null,
  execution_id uuid not null
);

------------------------------------------------------------------------------------------------------------------------
-- Executions (of agents)
------------------------------------------------------------------------------------------------------------------------

-- What lists of executions are filtered and ordered by; written in the transaction of the actor's turn.
create table executions (
  execution_id        uuid primary key,
  tenant              text not null,
  agent_id            uuid not null,
  status              text not null,
  created_at          timestamptz not null,
  -- Equals created_at while pending.
  started_at          timestamptz not null,
  ended_at            timestamptz,
  workflow_name       text,
  workflow_run_id     text,
  parent_execution_id text
);
-- One for each filter, in the order of lists: newest first.
create index executions_newest on executions (tenant, created_at desc, execution_id desc);
create index executions_of_agent on executions (tenant, agent_id, created_at desc, execution_id desc);
create index executions_of_status on executions (tenant, status, created_at desc, execution_id desc)
  where ended_at is not null;
create index executions_of_workflow on executions (tenant, workflow_name, created_at desc, execution_id desc)
  where workflow_name is not null;
create index executions_of_run on executions (tenant, workflow_run_id, created_at desc, execution_id desc)
  where workflow_run_id is not null;
create index executions_of_parent on executions (tenant, parent_execution_id, created_at desc, execution_id desc)
  where parent_execution_id is not null;
-- Few wait so long for their start; of the others it is about the time at which they were made.
create index executions_late on executions (tenant, started_at) where started_at - created_at > interval '15 minutes';
-- What a tenant has under way is listed by status, and counted against its quota.
create index executions_unfinished on executions (tenant, created_at desc, execution_id desc) where ended_at is null;
create index executions_of_agent_unfinished on executions (agent_id) where ended_at is null;
create index executions_ended on executions (ended_at) where ended_at is not null;

-- Which executions carry a label, newest first. Labels compare byte by byte.
create table execution_labels (
  tenant       text not null,
  name         text collate "C" not null,
  value        text collate "C" not null,
  created_at   timestamptz not null,
  execution_id uuid not null,
  primary key (tenant, name, value, created_at, execution_id)
);

-- Logs of executions that ended up to this time are trimmed to what records need. One row.
create table execution_trimming (
  ended_until timestamptz not null
);
insert into execution_trimming values ('epoch');

-- One numbered sequence of events per tenant and agent, made when it is read for the first time.
create table agent_streams (
  tenant         text not null,
  agent_id       uuid not null,
  -- Raised by every addition to the sequence, so that two cannot be made at once.
  version        bigint not null default 0,
  -- The highest id given.
  last_id        bigint not null default 0,
  -- The agent's own events are taken up to this one.
  agent_sequence bigint not null default 0,
  -- Executions made well before this are all taken in.
  admitted_until timestamptz not null default 'epoch',
  primary key (tenant, agent_id)
);

-- The executions whose events such a sequence takes in.
create table agent_stream_executions (
  execution_id uuid primary key references executions on delete cascade,
  tenant       text not null,
  agent_id     uuid not null,
  -- Events up to this one have their id.
  sequence     bigint not null,
  -- It ended, and every event has its id.
  is_over      boolean not null,
  foreign key (tenant, agent_id) references agent_streams on delete cascade
);
create index agent_stream_executions_open on agent_stream_executions (tenant, agent_id) where not is_over;
create index agent_stream_executions_of_stream on agent_stream_executions (tenant, agent_id);

-- The event behind each id. Rows go with their execution; ids are not given again.
create table agent_stream_entries (
  tenant       text not null,
  agent_id     uuid not null,
  id           bigint not null,
  -- Null: one of the agent's own events.
  execution_id uuid references agent_stream_executions on delete cascade,
  sequence     bigint not null,
  primary key (tenant, agent_id, id),
  foreign key (tenant, agent_id) references agent_streams on delete cascade
);
create index agent_stream_entries_of_execution on agent_stream_entries (execution_id);

------------------------------------------------------------------------------------------------------------------------
-- Workflows
------------------------------------------------------------------------------------------------------------------------

-- Registered workflows, a row for each version.
create table workflows (
  workflow_id     uuid primary key,
  -- The owner; `*` for what every tenant sees.
  tenant          text not null,
  name            text not null,
  version         text not null,
  -- Sorts by semantic version, byte by byte.
  version_order   text collate "C" not null,
  description     text not null,
  labels          jsonb not null,
  annotations     json not null,
  tags            text[] not null,
  -- `metadata` as the manifest has it.
  metadata        json not null,
  input_schema    json not null,
  manifest_yaml   text not null,
  manifest_sha256 text not null,
  -- What runs begin with.
  definition      text not null,
  -- Counts what was registered under this id.
  revision        bigint not null default 1,
  created_at      timestamptz not null,
  registered_at   timestamptz not null,
  registered_by   text not null,
  unique (tenant, name, version)
);
create index workflows_by_name on workflows (name, tenant, version_order);
create index workflows_by_label on workflows using gin (labels jsonb_path_ops);

-- What happened to definitions of workflows, and who did it.
create table workflow_changes (
  id          uuid primary key,
  at          timestamptz not null,
  -- The owner of the definition after the change.
  tenant      text not null,
  type        text not null,
  workflow_id uuid not null,
  name        text not null,
  version     text not null,
  actor_kind  text not null,
  actor_sub   text not null,
  request_id  text,
  details     json not null
);
create index workflow_changes_of_tenant on workflow_changes (tenant, at);

-- What lists of workflow runs are filtered and ordered by; written in the transaction of the actor's turn.
create table workflow_runs (
  run_id           uuid primary key,
  tenant           text not null,
  workflow_id      uuid not null,
  workflow_name    text not null,
  workflow_version text not null,
  status           text not null,
  started_at       timestamptz not null,
  ended_at         timestamptz,
  parent_run_id    uuid,
  root_run_id      uuid not null,
  -- The run that this one repeats.
  retry_of         uuid,
  stimulus_id      text
);
create index workflow_runs_newest on workflow_runs (tenant, started_at desc, run_id desc);
create index workflow_runs_of_status on workflow_runs (tenant, status, started_at desc, run_id desc)
  where ended_at is not null;
create index workflow_runs_unfinished on workflow_runs (tenant, started_at desc, run_id desc) where ended_at is null;
create index workflow_runs_of_name on workflow_runs (tenant, workflow_name, started_at desc, run_id desc);
-- Lists of one version.
create index workflow_runs_of_version on workflow_runs (tenant, workflow_id, started_at desc, run_id desc);
create index workflow_runs_of_version_unfinished on workflow_runs (workflow_id) where ended_at is null;
create index workflow_runs_children on workflow_runs (parent_run_id) where parent_run_id is not null;
create index workflow_runs_ended on workflow_runs (ended_at) where ended_at is not null;

------------------------------------------------------------------------------------------------------------------------
-- Approvals
------------------------------------------------------------------------------------------------------------------------

-- What lists, filters, history and retention need of approvals; written in the transaction of the actor's turn.
create table approvals (
  approval_id    uuid primary key,
  tenant         text not null,
  status         text not null,
  kind           text not null,
  -- The workflow run that asked.
  run_id         text not null,
  root_run_id    text not null,
  workflow_name  text,
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  decided_at     timestamptz,
  -- The decider, as authenticated.
  decided_sub    text,
  decided_email  text,
  -- Ready to be sent, as JSON: the pending object, and the record without its events once it is decided.
  document       text not null,
  document_bytes integer not null
);
-- One for each filter of the two lists, in their order.
create index approvals_pending on approvals (tenant, created_at, approval_id) where status = 'pending';
create index approvals_pending_of_workflow on approvals (tenant, workflow_name, created_at, approval_id)
  where status = 'pending';
create index approvals_pending_of_kind on approvals (tenant, kind, created_at, approval_id) where status = 'pending';
create index approvals_decided on approvals (tenant, decided_at desc, approval_id desc) where status <> 'pending';
create index approvals_decided_of_status on approvals (tenant, status, decided_at desc, approval_id desc)
  where status <> 'pending';
create index approvals_decided_of_workflow on approvals (tenant, workflow_name, decided_at desc, approval_id desc)
  where status <> 'pending';
create index approvals_decided_by_sub on approvals (tenant, decided_sub, decided_at desc, approval_id desc)
  where status <> 'pending' and decided_sub is not null;
create index approvals_decided_by_email on approvals (tenant, decided_email, decided_at desc, approval_id desc)
  where status <> 'pending' and decided_email is not null;
create index approvals_of_run on approvals (tenant, run_id);
create index approvals_of_root on approvals (tenant, root_run_id);
create index approvals_due on approvals (expires_at) where status = 'pending';
create index approvals_age on approvals (decided_at) where status <> 'pending';

-- Which approval a decision link belongs to. The approval decides whether it is still good.
create table approval_links (
  -- SHA-256 of the token.
  hash        text primary key,
  approval_id uuid not null,
  tenant      text not null
);
create index approval_links_of_approval on approval_links (approval_id);

------------------------------------------------------------------------------------------------------------------------
-- Stimuli
------------------------------------------------------------------------------------------------------------------------

-- Inbound messages, each of which starts at most one workflow run. A row is the stimulus: its acceptance is this row's
-- commit. While `status` is received it is to be processed to its end; `due_at` is when the next node may take it up, so it
-- lies ahead while a node is at work on it.
create table stimuli (
  tenant              text not null,
  -- UUIDv7: the order of ids is the order of acceptance.
  id                  uuid not null,
  source              text not null,
  channel             text not null check (channel in ('api', 'webhook', 'replay')),
  acknowledge         text not null check (acknowledge in ('routed', 'received')),
  status              text not null default 'received' check
    (status in ('received', 'classified', 'rejected', 'classification_failed', 'start_failed', 'discarded')),
  dead_letter         boolean not null default false,
  content             text not null,
  content_encoding    text not null check (content_encoding in ('utf-8', 'base64')),
  content_type        text,
  -- Bytes, and their digest in hex, before any encoding.
  content_size        integer not null,
  content_sha256      text not null,
  -- JSON: those forwarded.
  headers             text not null,
  headers_truncated   boolean not null,
  idempotency_key     text,
  duplicate_count     integer not null default 0,
  -- The row of `stimulus_sources`, where there is one for the source.
  source_id           uuid,
  -- Of a replay that names its workflow: `{workflow, version}`.
  override            jsonb,
  -- Minted with the stimulus, so that every attempt to process it starts the same workflow run.
  run_id              uuid not null,
  -- The agent's execution that classifies it, once one was begun.
  router_execution_id uuid,
  -- The record's `classification_detail`.
  classification      jsonb,
  error_code          text,
  error_message       text,
  -- Further members of the error body.
  error_details       jsonb,
  attempts            integer not null default 0,
  due_at              timestamptz not null,
  replay_of           uuid,
  replayed_by         uuid,
  received_by_kind    text not null,
  received_by_sub     text not null,
  -- Of a person, as the token said: the run's initiator, and whose rate is debited.
  received_by_email   text,
  received_by_tier    text,
  received_at         timestamptz not null,
  last_event_at       timestamptz not null,
  discarded_at        timestamptz,
  discarded_by        jsonb,
  discard_reason      text,
  primary key (tenant, id)
);
create index stimuli_due on stimuli (due_at) where status = 'received';
create index stimuli_open on stimuli (tenant, acknowledge, id) where status = 'received';
create index stimuli_of_status on stimuli (tenant, status, id) where status <> 'received';
create index stimuli_of_source on stimuli (tenant, source, id);
create index stimuli_of_channel on stimuli (tenant, channel, id);
create index stimuli_dead_letters on stimuli (tenant, id) where dead_letter;

-- Which stimulus holds an idempotency key, for a day from its acceptance. Written in the commit of the stimulus's row,
-- deleted in the one that ends it without a run.
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

-- Where stimuli come from: per tenant and source how a delivery is verified and what it starts.
create table stimulus_sources (
  id                   uuid primary key,
  tenant               text not null,
  -- Lower case.
  source               text not null,
  -- Name or UUID as it was given, resolved at use; null: the tenant's router decides.
  workflow             text,
  workflow_version     text,
  enabled              boolean not null,
  preset               text not null check (preset in ('svc', 'github', 'stripe', 'slack', 'standard_webhooks')),
  tolerance_seconds    integer not null,
  acknowledge          text not null check (acknowledge in ('routed', 'received')),
  idempotency_fallback text not null check (idempotency_fallback in ('none', 'body_sha256')),
  forward_headers      text[] not null,
  -- Deliveries and stimuli let through; null: limited by the tenant's rate alone.
  rate_per_minute      integer,
  description          text not null,
  -- Encrypted texts. Null: the environment's, if any. The secret is encrypted as the version counted here, the previous
  -- one as the version before.
  secret_version       integer not null,
  secret               text,
  previous_secret      text,
  previous_expires_at  timestamptz,
  -- Written at intervals; no change of the configuration.
  last_received_at     timestamptz,
  -- Counts changes: a change names the one it read.
  revision             integer not null default 1,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  created_by           jsonb not null,
  unique (tenant, source)
);
-- Candidates of a bare URL, oldest first.
create index stimulus_sources_by_source on stimulus_sources (source, created_at, id);

-- The agent that picks a workflow where a tenant's source names none.
create table stimulus_routers (
  tenant               text primary key,
  -- As it was given: a name or a UUID; and the agent it meant then. Null: there was none yet.
  router_agent         text not null,
  router_agent_id      uuid,
  confidence_threshold double precision not null,
  timeout_seconds      integer not null,
  -- Null: all of the tenant's own.
  allowed_workflows    text[],
  updated_at           timestamptz not null,
  updated_by           jsonb not null
);

------------------------------------------------------------------------------------------------------------------------
-- Volumes
------------------------------------------------------------------------------------------------------------------------

-- Volumes of users, of agents and workflows (persistent ones), of single executions and workflow runs (kind `run`:
-- declared ephemeral ones). Labels compare byte by byte. An execution's implicit workspace has no row: its id is the
-- execution's.
create table volumes (
  volume_id        uuid primary key,
  tenant           text not null,
  kind             text not null check (kind in ('user', 'agent', 'run', 'workflow')),
  -- The name that its owner, or the manifest, gives it.
  label            text collate "C" not null,
  -- The user; of an agent's volume the user who ran the agent first.
  owner_user_id    text,
  agent_id         uuid,
  execution_id     uuid,
  -- Of a workflow's volume: kept per tenant, workflow and label.
  workflow         text,
  visibility       text not null default 'private' check (visibility in ('private', 'tenant')),
  size_limit_bytes bigint not null,
  -- Of a run's volume: how long it outlives the run.
  ttl_ms           bigint,
  -- As last measured; not to be trusted while `measured` is false.
  used_bytes       bigint not null default 0,
  file_count       bigint not null default 0,
  measured         boolean not null default true,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  -- Set: gone for every reader; the row stays until every host has erased the files.
  deleted_at       timestamptz
);
create unique index volumes_label on volumes (tenant, owner_user_id, label) where kind = 'user' and deleted_at is null;
create unique index volumes_of_agent on volumes (agent_id, tenant, label) where kind = 'agent' and deleted_at is null;
create unique index volumes_of_workflow on volumes (tenant, workflow, label)
  where kind = 'workflow' and deleted_at is null;
create index volumes_of_run on volumes (execution_id) where kind = 'run';
create index volumes_of_tenant on volumes (tenant, created_at, volume_id) where deleted_at is null;
create index volumes_deleted on volumes (deleted_at) where deleted_at is not null;

-- Which executions mount a volume, or read attachments from it.
create table volume_mounts (
  volume_id    uuid not null references volumes on delete cascade,
  execution_id uuid not null,
  tenant       text not null,
  -- How it shows in the execution's instances, once one was launched; see src/features/volumes/shared-mounts.ts.
  shape        text,
  created_at   timestamptz not null default now(),
  primary key (volume_id, execution_id)
);
create index volume_mounts_of_execution on volume_mounts (execution_id);

-- What is known of the content of files; holds as long as size and time of change are the file's.
create table volume_files (
  volume_id   uuid not null references volumes on delete cascade,
  path        text collate "C" not null,
  size        bigint not null,
  modified_us bigint not null,
  sha256      text not null,
  mime_type   text not null,
  primary key (volume_id, path)
);

------------------------------------------------------------------------------------------------------------------------
-- Limits, and records of security
------------------------------------------------------------------------------------------------------------------------

-- Limits that take the place of a tier's own. A null tenant or user stands for any.
create table rate_limit_overrides (
  id          uuid primary key,
  tenant      text,
  user_id     text,
  resource    text not null,
  bucket      text not null,
  limit_value bigint not null check (limit_value >= 0),
  burst_value bigint check (burst_value >= 0),
  check (tenant is not null or user_id is not null),
  unique nulls not distinct (tenant, user_id, resource, bucket)
);

-- What was refused for the sake of security. Equal ones within a minute share a row.
create table security_incidents (
  id             uuid primary key,
  tenant         text not null,
  category       text not null,
  severity       text not null,
  agent_id       text,
  execution_id   text,
  session_id     text,
  tool_name      text,
  violation_type text,
  details        jsonb not null,
  count          bigint not null,
  created_at     timestamptz not null,
  last_seen_at   timestamptz not null
);
create index security_incidents_newest on security_incidents (tenant, created_at desc, id desc);
create index security_incidents_of_execution on security_incidents (tenant, execution_id, created_at desc)
  where execution_id is not null;
create index security_incidents_age on security_incidents (last_seen_at);

-- Who changed what. Written in the transaction of the change; never updated, deleted only by age.
create table audit_entries (
  id          uuid primary key,
  at          timestamptz not null,
  tenant      text not null,
  actor       jsonb not null,
  action      text not null,
  target_type text not null,
  target_id   text not null,
  outcome     text not null check (outcome in ('allowed', 'denied', 'failed')),
  ip          text,
  user_agent  text,
  request_id  text,
  details     jsonb not null
);
-- Newest first; of one tenant, and of all, which is by age as well.
create index audit_entries_of_tenant on audit_entries (tenant, at desc, id desc);
create index audit_entries_age on audit_entries (at desc, id desc);
