/**
 * What the two published client libraries (TypeScript and Python) call, and what they read from the answers. The Python
 * one refuses an answer whose required members are missing, null or of another type; where the libraries differ, both
 * ways stand here.
 */

/** A member's type; `?` at the end of its name: it may be null or missing. */
export type Needed = "string" | "integer" | "number" | "boolean" | "any" | readonly [Needed] | Members;
export interface Members {
  readonly [name: string]: Needed;
}
/** Answers that are no JSON: streams of events, files, text. */
type Raw = "raw";

const agent: Members = {
  id: "string",
  name: "string",
  version: "string",
  "description?": "string",
  scope: "string",
  status: "string",
  "agent_type?": "string",
  "capability_tags?": ["string"],
  "execution_count?": "integer",
  created_at: "string",
  "updated_at?": "string",
};
const agentDetail: Members = { ...agent, "labels?": {}, "annotations?": {} };
const workflow: Members = {
  id: "string",
  name: "string",
  version: "string",
  "description?": "string",
  scope: "string",
  "status?": "string",
  "labels?": {},
  "execution_count?": "integer",
  created_at: "string",
  "updated_at?": "string",
  "tenant_id?": "string",
};
const run: Members = {
  id: "string",
  workflow_name: "string",
  status: "string",
  started_at: "string",
  "ended_at?": "string",
  "current_state?": "string",
};
const execution: Members = {
  id: "string",
  "agent_id?": "string",
  "workflow_name?": "string",
  status: "string",
  started_at: "string",
  "ended_at?": "string",
};
const approval: Members = {
  id: "string",
  execution_id: "string",
  prompt: "string",
  created_at: "string",
  timeout_seconds: "integer",
};
const volume: Members = {
  id: "string",
  label: "string",
  size_limit_bytes: "integer",
  used_bytes: "integer",
  created_at: "string",
};
const file: Members = { name: "string", type: "string", "size_bytes?": "integer", "modified_at?": "string" };
const credential: Members = {
  id: "string",
  provider: "string",
  created_at: "string",
  "last_used?": "string",
  "scopes?": ["string"],
};
const grant: Members = {
  id: "string",
  credential_id: "string",
  "agent_id?": "string",
  "workflow_name?": "string",
  permission_type: "string",
  created_at: "string",
};
const apiKey: Members = {
  id: "string",
  name: "string",
  created_at: "string",
  "expires_at?": "string",
  "last_used?": "string",
};
const member: Members = { id: "string", email: "string", role: "string", "invited_at?": "string", status: "string" };
const saml: Members = { entity_id: "string", sso_url: "string", "certificate?": "string", configured: "boolean" };
const node: Members = { id: "string", "hostname?": "string", status: "string", "last_heartbeat?": "string" };
const swarm: Members = {
  swarm_id: "string",
  "parent_execution_id?": "string",
  member_ids: ["string"],
  status: "string",
  "lock_count?": "integer",
  "recent_message_count?": "integer",
};
const stimulus: Members = {
  id: "string",
  "source?": "string",
  "classification?": "string",
  created_at: "string",
  "workflow_execution_id?": "string",
};
const tenant: Members = {
  slug: "string",
  display_name: "string",
  status: "string",
  tier: "string",
  keycloak_realm: "string",
  openbao_namespace: "string",
  quotas: { max_concurrent_executions: "integer", max_agents: "integer", max_storage_gb: "number" },
  created_at: "string",
  updated_at: "string",
  "deleted_at?": "string",
};
const override: Members = {
  id: "string",
  resource_type: "string",
  bucket: "string",
  limit_value: "integer",
  "tenant_id?": "string",
  "user_id?": "string",
  "burst_value?": "integer",
  created_at: "string",
  updated_at: "string",
};
const standing: Members = { user_id: "string", buckets: [{ bucket_name: "string", usage_pct: "number" }] };
const incident: Members = { id: "string", "type?": "string", "severity?": "string", created_at: "string" };
const violation: Members = { id: "string", "volume_id?": "string", "type?": "string", created_at: "string" };
const dashboard: Members = {
  swarm_count: "integer",
  stimulus_count: "integer",
  security_incident_count: "integer",
  storage_violation_count: "integer",
  execution_count: "integer",
  workflow_execution_count: "integer",
};
const price: Members = { price_id: "string", amount: "integer", currency: "string" };
const done: Members = { status: "string" };
const consent: Members = { auth_url: "string", state_token: "string", expires_at: "string" };
const polled: Members = { status: "string", "credential_id?": "string" };
const deployed: Members = { id: "string", agent_id: "string", version: "string", deployed_at: "string" };
const registered: Members = { id: "string", name: "string", version: "string", registered_at: "string" };
const startedRun: Members = { execution_id: "string", "workflow_id?": "string", "temporal_run_id?": "string" };
const logs: Members = {
  execution_id: "string",
  events: ["any"],
  count: "integer",
  limit: "integer",
  offset: "integer",
};

/** Operation, its parameters without their names → what is read from its answer. */
export const calls: Readonly<Record<string, Members | Raw>> = {
  "GET /v1/agents": { items: [agent], count: "integer" },
  "POST /v1/agents": deployed,
  "GET /v1/agents/{}": agentDetail,
  "PATCH /v1/agents/{}": agentDetail,
  "DELETE /v1/agents/{}": done,
  "GET /v1/agents/lookup/{}": agentDetail,
  "POST /v1/agents/{}/execute": { execution_id: "string", status: "string" },
  "GET /v1/agents/{}/versions": {
    versions: [{ id: "string", agent_id: "string", version: "string", deployed_at: "string" }],
    count: "integer",
  },
  "PATCH /v1/agents/{}/scope": agentDetail,
  "POST /v1/agents/{}/scope": agentDetail,
  "GET /v1/agents/{}/events": "raw",
  "POST /v1/executions": { execution_id: "string" },
  "GET /v1/executions": { items: [execution], count: "integer" },
  "GET /v1/executions/{}": execution,
  "GET /v1/executions/{}/stream": "raw",
  "POST /v1/executions/{}/cancel": done,
  "DELETE /v1/executions/{}": done,
  "GET /v1/executions/{}/files/{}": "raw",
  "GET /v1/workflows": { items: [workflow], count: "integer" },
  "POST /v1/workflows": registered,
  "GET /v1/workflows/{}": workflow,
  "GET /v1/workflows/{}/yaml": "raw",
  "DELETE /v1/workflows/{}": done,
  "GET /v1/workflows/{}/versions": { versions: [registered], count: "integer" },
  "PATCH /v1/workflows/{}/scope": workflow,
  "POST /v1/workflows/{}/scope": workflow,
  "POST /v1/workflows/{}/run": { execution_id: "string", status: "string" },
  "POST /v1/workflows/{}/execute": startedRun,
  "POST /v1/workflows/temporal/execute": startedRun,
  "GET /v1/workflows/executions": { items: [run], count: "integer" },
  "GET /v1/workflows/executions/{}": run,
  "DELETE /v1/workflows/executions/{}": done,
  "POST /v1/workflows/executions/{}/signal": done,
  "POST /v1/workflows/executions/{}/cancel": done,
  "GET /v1/workflows/executions/{}/logs": logs,
  "GET /v1/workflows/executions/{}/logs/stream": "raw",
  "POST /v1/volumes": volume,
  "GET /v1/volumes": { volumes: [volume], total_count: "integer", "total_quota_bytes?": "integer" },
  "GET /v1/volumes/{}": volume,
  "PATCH /v1/volumes/{}": volume,
  "DELETE /v1/volumes/{}": done,
  "GET /v1/volumes/quota": {
    quota_bytes: "integer",
    used_bytes: "integer",
    volume_count: "integer",
    volume_limit: "integer",
  },
  "GET /v1/volumes/{}/files": { entries: [file] },
  "GET /v1/volumes/{}/files/download": "raw",
  "POST /v1/volumes/{}/files/upload": {
    volume_id: "string",
    path: "string",
    name: "string",
    mime_type: "string",
    size: "integer",
    size_bytes: "integer",
    "sha256?": "string",
    uploaded_at: "string",
  },
  "POST /v1/volumes/{}/files/mkdir": { path: "string", created_at: "string" },
  "POST /v1/volumes/{}/files/move": { from: "string", to: "string", moved_at: "string" },
  "DELETE /v1/volumes/{}/files": done,
  "GET /v1/credentials": { credentials: [credential], count: "integer" },
  "POST /v1/credentials/api-key": credential,
  "POST /v1/credentials/api-keys": credential,
  "POST /v1/credentials/oauth/initiate": consent,
  "POST /v1/credentials/oauth/callback": { credential_id: "string", stored: "boolean" },
  "GET /v1/credentials/oauth/callback": { credential_id: "string", stored: "boolean" },
  "POST /v1/credentials/device/poll": polled,
  "POST /v1/credentials/oauth/device/poll": polled,
  "GET /v1/credentials/{}": credential,
  "DELETE /v1/credentials/{}": done,
  "POST /v1/credentials/{}/rotate": credential,
  "GET /v1/credentials/{}/grants": { grants: [grant], count: "integer" },
  "POST /v1/credentials/{}/grants": grant,
  "DELETE /v1/credentials/{}/grants/{}": done,
  "GET /v1/secrets": { secrets: [{ name: "string", "last_modified?": "string", "size_bytes?": "integer" }] },
  "GET /v1/secrets/{}": { value: "string" },
  "PUT /v1/secrets/{}": { path: "string" },
  "DELETE /v1/secrets/{}": done,
  "GET /v1/api-keys": { api_keys: [apiKey] },
  "POST /v1/api-keys": { ...apiKey, key_value: "string" },
  "DELETE /v1/api-keys/{}": done,
  "GET /v1/colony/members": { members: [member], count: "integer" },
  "POST /v1/colony/members": member,
  "DELETE /v1/colony/members/{}": done,
  "PATCH /v1/colony/members/{}": member,
  "PUT /v1/colony/roles": member,
  "GET /v1/colony/saml": saml,
  "PUT /v1/colony/saml": saml,
  "GET /v1/colony/subscription": { tier: "string", features: ["string"] },
  "GET /v1/billing/prices": {
    tiers: [
      {
        tier: "string",
        product_id: "string",
        name: "string",
        description: "string",
        included_seats: "integer",
        "monthly?": price,
        "annual?": price,
        "seat_monthly?": price,
        "seat_annual?": price,
      },
    ],
  },
  "POST /v1/billing/checkout": { url: "string" },
  "POST /v1/billing/portal": { url: "string" },
  "GET /v1/billing/subscription": { tier: "string", status: "string", cancel_at_period_end: "boolean" },
  "GET /v1/billing/invoices": {
    invoices: [{ id: "string", amount: "integer", currency: "string", created: "string" }],
  },
  "GET /v1/cluster/status": { nodes: [node], overall_status: "string" },
  "GET /v1/cluster/nodes": { source: "string", items: [node] },
  "GET /v1/swarms": { items: [swarm], count: "integer" },
  "GET /v1/swarms/{}": swarm,
  "POST /v1/stimuli": {},
  "GET /v1/stimuli": { items: [stimulus], count: "integer" },
  "GET /v1/stimuli/{}": stimulus,
  "POST /v1/webhooks/{}": {},
  "GET /v1/security/incidents": { items: [incident], count: "integer" },
  "GET /v1/observability/security-incidents": { items: [incident], count: "integer" },
  "GET /v1/storage/violations": { items: [violation], count: "integer" },
  "GET /v1/observability/storage-violations": { items: [violation], count: "integer" },
  "GET /v1/dashboard/summary": dashboard,
  "GET /v1/observability/dashboard": dashboard,
  "GET /v1/cortex/patterns": {
    patterns: [
      {
        id: "string",
        "error_signature?": "string",
        "solution?": "string",
        "success_rate?": "number",
        created_at: "string",
      },
    ],
  },
  "GET /v1/cortex/skills": { skills: [{ id: "string", "description?": "string", "capability_tags?": ["string"] }] },
  "GET /v1/cortex/metrics": { pattern_count: "integer", solution_count: "integer", "avg_success_rate?": "number" },
  "GET /v1/user/rate-limits": standing,
  "GET /v1/user/rate-limits/usage": standing,
  "GET /v1/human-approvals": { pending_requests: [approval], count: "integer" },
  "GET /v1/human-approvals/{}": { request: approval },
  "POST /v1/human-approvals/{}/approve": done,
  "POST /v1/human-approvals/{}/reject": done,
  "POST /v1/seal/attest": {
    status: "string",
    security_token: "string",
    expires_at: "string",
    "session_id?": "string",
  },
  "POST /v1/seal/invoke": {},
  "GET /v1/seal/tools": {
    protocol: "string",
    attestation_endpoint: "string",
    invoke_endpoint: "string",
    "security_context?": "string",
    tools: ["any"],
  },
  "POST /v1/admin/tenants": tenant,
  "GET /v1/admin/tenants": { tenants: [tenant], count: "integer" },
  "POST /v1/admin/tenants/{}/suspend": { status: "string", slug: "string" },
  "DELETE /v1/admin/tenants/{}": { status: "string", slug: "string" },
  "GET /v1/admin/rate-limits/overrides": { overrides: [override], count: "integer" },
  "POST /v1/admin/rate-limits/overrides": override,
  "DELETE /v1/admin/rate-limits/overrides/{}": { status: "string", id: "string" },
  "GET /v1/admin/rate-limits/usage": {
    usage: [
      {
        scope_type: "string",
        scope_id: "string",
        resource_type: "string",
        bucket: "string",
        window_start: "string",
        counter: "integer",
      },
    ],
    count: "integer",
  },
  "GET /health/live": done,
  "GET /health/ready": done,
};
