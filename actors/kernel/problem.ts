/**
 * The closed family of failures that a caller may be told about.
 *
 * A `Problem` is raised by the domain and mapped to the wire in one place (`src/http/problem.ts`).
 * Anything else that is thrown is a bug and reaches callers only as `internal_error` with the request id.
 */

/** Every code with the status it becomes. `test/pins` freezes this table. */
export const problems = {
  // syntax
  malformed_body: 400,
  malformed_request: 400,
  subprotocol_required: 400,
  upgrade_required: 426,
  invalid_host: 400,
  invalid_id: 400,
  invalid_agent_id: 400,
  invalid_execution_id: 400,
  invalid_request_id: 400,
  invalid_invocation_id: 400,
  invalid_tenant_slug: 400,
  malformed_signature: 400,
  body_read_error: 400,
  invalid_source: 400,
  // identity
  missing_authorization: 401,
  invalid_authorization_header: 401,
  invalid_token: 401,
  token_expired: 401,
  invalid_role: 401,
  invalid_tier: 401,
  identity_not_recognized: 401,
  invalid_api_key: 401,
  missing_signature: 401,
  secret_not_found: 401,
  invalid_signature: 401,
  workload_not_verified: 401,
  // development issuer
  invalid_request: 400,
  unsupported_grant_type: 400,
  invalid_grant: 400,
  invalid_client: 401,
  realm_not_found: 404,
  // the plan does not allow it
  quota_exceeded: 402,
  // purchases
  payment_failed: 402,
  no_subscription: 404,
  seats_in_use: 409,
  subscription_exists: 409,
  seat_price_mismatch: 422,
  seats_not_available: 422,
  stale_preview: 422,
  tier_mismatch: 422,
  unknown_price: 422,
  url_not_allowed: 422,
  payment_provider_error: 502,
  payment_provider_timeout: 504,
  // permission
  insufficient_scope: 403,
  operator_required: 403,
  user_identity_required: 403,
  tenant_suspended: 403,
  tenant_deleted: 403,
  tenant_protected: 403,
  tenant_delegation_forbidden: 403,
  not_a_team_member: 403,
  global_scope_forbidden: 403,
  security_context_forbidden: 403,
  execution_not_yours: 403,
  tenant_mismatch: 403,
  approver_not_allowed: 403,
  self_approval_forbidden: 403,
  route_disabled: 403,
  origin_forbidden: 403,
  tier_not_permitted: 403,
  // unknown or foreign
  not_found: 404,
  tenant_not_found: 404,
  agent_not_found: 404,
  agent_version_not_found: 404,
  execution_not_found: 404,
  session_not_found: 404,
  iteration_not_found: 404,
  path_not_found: 404,
  volume_not_found: 404,
  tool_server_not_found: 404,
  dead_letter_not_found: 404,
  workflow_not_found: 404,
  workflow_execution_not_found: 404,
  schedule_not_found: 404,
  item_not_found: 404,
  swarm_not_found: 404,
  approval_not_found: 404,
  invocation_not_found: 404,
  webhook_endpoint_not_found: 404,
  route_not_found: 404,
  stimulus_not_found: 404,
  // framework
  method_not_allowed: 405,
  body_too_large: 413,
  file_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  misdirected_request: 421,
  headers_too_large: 431,
  // conflict
  agent_version_exists: 409,
  tool_server_exists: 409,
  tool_server_in_file: 409,
  agent_paused: 409,
  agent_archived: 409,
  already_current: 409,
  agent_name_conflict: 409,
  execution_already_terminal: 409,
  destination_exists: 409,
  volume_attached: 409,
  volume_label_taken: 409,
  workflow_version_exists: 409,
  workflow_in_use: 409,
  workflow_name_taken: 409,
  approval_already_decided: 409,
  no_open_approval: 409,
  invalid_state: 409,
  nothing_to_retry: 409,
  not_recorded: 409,
  wait_on_ancestor: 409,
  idempotent_duplicate: 409,
  ambiguous_webhook_route: 409,
  route_exists: 409,
  stimulus_in_progress: 409,
  stimulus_already_routed: 409,
  stimulus_discarded: 409,
  not_a_dead_letter: 409,
  already_replayed: 409,
  workspace_expired: 410,
  link_expired: 410,
  // well-formed but invalid
  validation_failed: 422,
  // tool calls that wait for a person
  arguments_changed: 409,
  arguments_not_editable: 422,
  invalid_arguments: 422,
  remember_not_allowed: 422,
  invalid_manifest: 422,
  unsupported_field: 422,
  unsupported_api_version: 422,
  unsupported_runtime: 422,
  unsupported_isolation: 422,
  unqualified_image: 422,
  image_not_allowed: 422,
  reserved_env: 422,
  invalid_schema: 422,
  bootstrap_path_forbidden: 422,
  unsupported_volume_type: 422,
  volume_type_forbidden: 422,
  open_egress_forbidden: 422,
  invalid_host_pattern: 422,
  unsupported_output_handler: 422,
  unsupported_destination: 422,
  immutable_field: 422,
  invalid_template: 422,
  unsafe_template_position: 422,
  idempotency_key_reused: 422,
  input_validation_failed: 422,
  unknown_model_alias: 422,
  unknown_tool: 422,
  runtime_unavailable: 422,
  unknown_security_context: 422,
  invalid_public_key: 422,
  invalid_attachment: 422,
  attachments_not_declared: 422,
  invalid_path: 422,
  is_a_directory: 422,
  invalid_volume: 422,
  missing_file: 422,
  judge_not_found: 422,
  reserved_override_key: 422,
  template_error: 422,
  depth_exceeded: 422,
  too_many_descendants: 422,
  too_many_ceilings: 422,
  invalid_input: 422,
  invalid_blackboard: 422,
  reserved_blackboard_key: 422,
  unknown_state: 422,
  reserved_source: 422,
  unknown_workflow: 422,
  no_router_configured: 422,
  classification_failed: 422,
  classification_parse_error: 422,
  router_agent_failed: 422,
  // limits
  rate_limited: 429,
  too_many_streams: 429,
  too_many_children: 429,
  too_many_checks: 429,
  signal_buffer_full: 429,
  // dispatch gateway
  agent_mismatch: 403,
  dispatch_not_found: 404,
  execution_not_running: 409,
  iteration_not_current: 409,
  loop_not_active: 409,
  dispatch_result_conflict: 409,
  tool_round_limit: 409,
  dispatch_expired: 410,
  unknown_message_type: 422,
  upstream_rate_limit: 429,
  llm_quota_exceeded: 429,
  upstream_authentication: 502,
  upstream_model_not_found: 502,
  upstream_invalid_input: 502,
  upstream_provider: 502,
  upstream_network: 502,
  upstream_unavailable: 503,
  upstream_timeout: 504,
  // ours
  internal_error: 500,
  execution_start_failed: 500,
  workflow_start_failed: 500,
  workflow_error: 500,
  decryption_failed: 500,
  not_configured: 501,
  service_unavailable: 503,
  limiter_unavailable: 503,
  stimulus_service_unavailable: 503,
  backlog_full: 503,
  mailbox_full: 503,
  identity_provider_unavailable: 503,
  timed_out: 504,
  // tenants and limits
  tenant_exists: 409,
  reserved_slug: 422,
  tenant_purged: 410,
  override_not_found: 404,
  // keys
  api_key_not_found: 404,
  unknown_scope: 422,
  scope_not_grantable: 403,
  // secrets and credentials
  version_conflict: 412,
  secret_forbidden: 422,
  secrets_unavailable: 503,
  credential_not_found: 404,
  credential_not_granted: 422,
  credential_forbidden: 422,
  credential_revoked: 409,
  not_credential_owner: 403,
  redirect_uri_not_allowed: 422,
  provider_not_configured: 501,
  oauth_not_configured: 501,
  oauth_denied: 400,
  oauth_exchange_failed: 502,
  state_expired: 410,
  device_code_not_found: 404,
  // security contexts
  security_context_not_found: 404,
  context_exists: 409,
  context_in_use: 409,
  version_mismatch: 412,
  // colony
  colony_suspended: 402,
  personal_tier_too_low: 402,
  seat_cap_reached: 402,
  team_context_required: 400,
  membership_revoked: 403,
  owner_only: 403,
  identity_kind_not_allowed: 403,
  email_required: 422,
  email_mismatch: 403,
  already_member: 409,
  owner_role_immutable: 409,
  ambiguous_user: 409,
  invalid_invitation: 404,
  invitation_expired: 410,
  invitation_not_pending: 409,
  entity_id_taken: 409,
  // edge hosts
  admin_required: 403,
  agent_runs_denied: 403,
  policy_violation: 403,
  fleet_run_not_found: 404,
  dispatch_disabled: 409,
  multiple_targets: 422,
  invalid_enrollment_token: 401,
  invalid_proof: 401,
  not_a_team_admin: 403,
  host_not_found: 404,
  group_not_found: 404,
  enrollment_token_not_found: 404,
  conflict: 409,
  key_in_use: 409,
  token_redeemed: 409,
  enrollment_token_expired: 410,
  enrollment_token_revoked: 410,
  // cortex
  cortex_not_configured: 501,
  // embedded issuer
  issuer_not_configured: 501,
  person_exists: 409,
  person_not_found: 404,
  // billing
  billing_not_configured: 501,
  webhook_not_configured: 501,
  signature_expired: 401,
  tenant_not_billable: 422,
} as const satisfies Record<string, number>;

export type ProblemCode = keyof typeof problems;

/** One finding in a request that is well-formed but invalid. `path` is dotted, rooted at the document. */
export interface Issue {
  readonly path: string;
  readonly message: string;
  readonly code: string;
  /** What would have been right, where that is a short list. */
  readonly available?: readonly string[];
}

export class Problem extends Error {
  override readonly name = "Problem";

  /**
   * @param code    stable, from the table above
   * @param message for people; never carries secrets, SQL, host paths or stack traces
   * @param extras  further members of the error body, such as `issues`
   * @param headers response headers, such as `Retry-After`
   * @param status  only for codes with two statuses: `invalid_tenant_slug` is 401 inside a token,
   *   `quota_exceeded` 429 where waiting helps, `invalid_state` 400 for a state of OAuth
   */
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly extras: Readonly<Record<string, unknown>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status: number = problems[code],
  ) {
    super(message);
  }
}

/** A 422 with its list of findings. */
export function invalid(code: ProblemCode, message: string, issues: readonly Issue[]): Problem {
  return new Problem(code, message, { issues });
}

/** The 422 for a request with these findings. */
export const invalidRequest = (issues: readonly Issue[]): Problem =>
  invalid("validation_failed", "The request is invalid", issues);

/** The 422 for a request with one finding, at the dotted path of a member. */
export const invalidField = (path: string, message: string, code = "invalid"): Problem =>
  invalidRequest([{ path, message, code }]);

/** A refusal as a value; a failure of the service (5xx, or any other error) is thrown on. */
export async function refusalOf<T>(work: Promise<T>): Promise<T | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error;
    throw error;
  }
}

/** A 422 with one finding, named in the message as well. */
export function invalidAt(code: ProblemCode, path: string, message: string): Problem {
  return invalid(code, `${path}: ${message}`, [
    { path, message, code: code === "validation_failed" ? "invalid" : code },
  ]);
}

/** A refusal as JSON, for an answer that comes from another process. */
export interface ProblemFacts {
  readonly code: ProblemCode;
  readonly message: string;
  readonly extras: Readonly<Record<string, unknown>>;
}

export const factsOf = ({ code, message, extras }: Problem): ProblemFacts => ({ code, message, extras });
export const problemOf = ({ code, message, extras }: ProblemFacts): Problem => new Problem(code, message, extras);
