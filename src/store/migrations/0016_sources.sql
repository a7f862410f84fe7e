-- Where stimuli come from: per tenant and source how a delivery is verified and what it starts.

create table source_routes (
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
  -- Deliveries and stimuli let through; null: the tenant's rate alone holds them.
  rate_per_minute      integer,
  description          text not null,
  -- Sealed texts; see src/sealing. Null: the environment's, if any. The secret is sealed as the version counted here,
  -- the previous one as the version before.
  secret_version       integer not null,
  secret               text,
  previous_secret      text,
  previous_expires_at  timestamptz,
  -- Written now and then; no change of the configuration.
  last_received_at     timestamptz,
  -- Counts changes: whoever changes a row tells which one it read.
  revision             integer not null default 1,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  created_by           jsonb not null,
  unique (tenant, source)
);
-- Candidates of a bare URL, oldest first.
create index source_routes_by_source on source_routes (source, created_at, id);

-- The agent that picks a workflow where a tenant's source route names none.
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
