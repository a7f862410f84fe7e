/** How signed calls and attestations are refused: numbers, their names, and the status of each code. */

interface Row {
  readonly number: number;
  readonly name: string;
  readonly status: number;
}

const row = (number: number, name: string, status: number): Row => ({ number, name, status });

/** Refusals of calls, by their code. */
export const sealErrors = {
  malformed_envelope: row(1000, "MALFORMED_ENVELOPE", 400),
  body_too_large: row(1000, "MALFORMED_ENVELOPE", 413),
  unsupported_media_type: row(1000, "MALFORMED_ENVELOPE", 415),
  invalid_signature: row(1001, "INVALID_SIGNATURE", 401),
  token_expired: row(1003, "TOKEN_EXPIRED", 401),
  timestamp_out_of_window: row(1003, "TOKEN_EXPIRED", 401),
  invalid_token: row(1004, "TOKEN_VERIFICATION_FAILED", 401),
  session_not_found: row(1005, "SESSION_NOT_FOUND", 401),
  session_inactive: row(1006, "SESSION_INACTIVE", 401),
  execution_not_running: row(1006, "SESSION_INACTIVE", 401),
  tenant_suspended: row(1006, "SESSION_INACTIVE", 403),
  replay_detected: row(1007, "REPLAY_DETECTED", 401),
  tool_not_allowed: row(2000, "POLICY_VIOLATION_TOOL_NOT_ALLOWED", 403),
  tool_denied: row(2001, "POLICY_VIOLATION_TOOL_DENIED", 403),
  path_not_allowed: row(2002, "POLICY_VIOLATION_PATH_NOT_ALLOWED", 403),
  command_not_allowed: row(2003, "POLICY_VIOLATION_COMMAND_NOT_ALLOWED", 403),
  subcommand_not_allowed: row(2003, "POLICY_VIOLATION_COMMAND_NOT_ALLOWED", 403),
  domain_not_allowed: row(2004, "POLICY_VIOLATION_DOMAIN_NOT_ALLOWED", 403),
  address_blocked: row(2004, "POLICY_VIOLATION_DOMAIN_NOT_ALLOWED", 403),
  rate_limited: row(2005, "POLICY_VIOLATION_RATE_LIMIT_EXCEEDED", 429),
  no_matching_capability: row(2006, "POLICY_VIOLATION_NO_MATCHING_CAPABILITY", 403),
  output_size_exceeded: row(2007, "POLICY_VIOLATION_OUTPUT_SIZE_EXCEEDED", 403),
  concurrency_exceeded: row(2008, "POLICY_VIOLATION_CONCURRENCY_EXCEEDED", 429),
  judge_rejected: row(2009, "POLICY_VIOLATION_JUDGE_REJECTED", 403),
  invalid_rpc_request: row(-32600, "INVALID_REQUEST", 400),
  unknown_tool: row(-32601, "UNKNOWN_TOOL", 404),
  tool_changed: row(-32601, "UNKNOWN_TOOL", 404),
  invalid_arguments: row(-32602, "INVALID_ARGUMENTS", 422),
  number_not_representable: row(-32602, "INVALID_ARGUMENTS", 422),
  execution_required: row(-32602, "INVALID_ARGUMENTS", 422),
  idempotency_key_reused: row(-32602, "INVALID_ARGUMENTS", 422),
  internal_error: row(-32603, "INTERNAL_ERROR", 500),
  tool_server_unavailable: row(-32010, "SERVICE_UNAVAILABLE", 503),
  service_unavailable: row(-32010, "SERVICE_UNAVAILABLE", 503),
  tool_not_configured: row(-32012, "NOT_CONFIGURED", 501),
} as const satisfies Readonly<Record<string, Row>>;

export type SealCode = keyof typeof sealErrors;

export const isSealCode = (code: string): code is SealCode => Object.hasOwn(sealErrors, code);

/** Refusals of an attestation: what is wrong with the key's proof, with the context, and with all else. */
const attestationNumbers: Readonly<Record<string, number>> = {
  workload_not_verified: 3000,
  security_context_forbidden: 3001,
  security_context_not_found: 3001,
};
const attestationNames: Readonly<Record<number, string>> = {
  3000: "WORKLOAD_NOT_VERIFIED",
  3001: "SECURITY_CONTEXT_REFUSED",
  3002: "ATTESTATION_REFUSED",
};

/** Number and name of a refused attestation. @param code of whichever step refused it */
export function attestationError(code: string): { readonly number: number; readonly name: string } {
  const number = attestationNumbers[code] ?? 3002;
  return { number, name: attestationNames[number] ?? "ATTESTATION_REFUSED" };
}

/**
 * Number, name and code of a refused call. Refusals of steps before the call's own (of the request's head, of routing)
 * are those of an envelope that is none; failures of the service keep their status.
 *
 * @param status of the refusal @param code of the common errors
 */
export function invocationError(
  code: string,
  status: number,
): { readonly number: number; readonly name: string; readonly code: string } {
  if (isSealCode(code)) return { number: sealErrors[code].number, name: sealErrors[code].name, code };
  if (status === 429)
    return { number: sealErrors.rate_limited.number, name: sealErrors.rate_limited.name, code: "rate_limited" };
  if (status === 503 || status === 504) return { number: -32010, name: "SERVICE_UNAVAILABLE", code };
  if (status === 501) return { number: -32012, name: "NOT_CONFIGURED", code };
  if (status >= 500) return { number: -32603, name: "INTERNAL_ERROR", code };
  if (status === 422) return { number: -32602, name: "INVALID_ARGUMENTS", code };
  return { number: 1000, name: "MALFORMED_ENVELOPE", code: code === "malformed_body" ? "malformed_envelope" : code };
}
