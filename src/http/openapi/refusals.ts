/** The codes that an operation may be refused with: those of the pipeline's steps, and the route's own. */
import { type ProblemCode, problems } from "../../../actors/kernel/problem.ts";
import type { Route } from "../route.ts";

/**
 * Of every request to any route: see `src/http/entry.ts`. An operation lists them where it declares their
 * status anyway; the others are left to `default`.
 */
export const entryCodes: readonly ProblemCode[] = [
  "malformed_request",
  "invalid_host",
  "origin_forbidden",
  "uri_too_long",
  "misdirected_request",
  "headers_too_large",
  "internal_error",
];

const callerCodes: readonly ProblemCode[] = [
  "invalid_tenant_slug",
  "missing_authorization",
  "invalid_authorization_header",
  "invalid_token",
  "token_expired",
  "invalid_role",
  "invalid_tier",
  "identity_not_recognized",
  "invalid_api_key",
  "colony_suspended",
  "membership_revoked",
  "tenant_suspended",
  "tenant_deleted",
  "tenant_delegation_forbidden",
  "membership_revoked",
  "not_a_team_member",
  "tenant_not_found",
  "rate_limited",
  "identity_provider_unavailable",
];

/** All codes but those of the entry, by the order of the table. */
export function refusalsOf(route: Route): readonly ProblemCode[] {
  const params = Object.values(route.params?.properties ?? {});
  const codes = new Set<ProblemCode>([
    ...(route.public && route.identifies === null ? [] : callerCodes),
    ...(route.scope === null ? [] : (["insufficient_scope"] as const)),
    ...(route.operatorsOnly !== false ? (["operator_required"] as const) : []),
    ...(route.peopleOnly ? (["user_identity_required"] as const) : []),
    // The schema of a parameter names the code of its refusal.
    ...params.map((property) => (property["x-code"] as ProblemCode | undefined) ?? "invalid_id"),
    // The rest of a path may be encoded wrongly.
    ...(route.path.endsWith("/*") ? (["invalid_id"] as const) : []),
    ...(route.query === null && route.body?.kind !== "json" ? [] : (["validation_failed"] as const)),
    ...(route.body === null ? [] : (["malformed_body", "body_too_large", "unsupported_media_type"] as const)),
    // Who sends a key may send it with another body, or one that is no key.
    ...("Idempotency-Key" in (route.headers?.properties ?? {})
      ? (["idempotency_key_reused", "validation_failed"] as const)
      : []),
    ...(route.sse ? (["too_many_streams"] as const) : []),
    // Of the stores, of an actor that answers too late, and of checks that wait for their tenant's turn.
    "too_many_checks",
    "service_unavailable",
    "mailbox_full",
    "timed_out",
    ...route.refusals,
  ]);
  return (Object.keys(problems) as ProblemCode[]).filter((code) => codes.has(code));
}

/** Codes that some operations answer with other statuses than the table's, and those. */
export const otherStatuses: Readonly<Partial<Record<ProblemCode, readonly number[]>>> = {
  invalid_tenant_slug: [401, 422],
  quota_exceeded: [429],
  agent_not_found: [422],
  // Of a route, and of a start that refers to one.
  secret_not_found: [404, 422],
  credential_not_found: [422],
  // Of OAuth.
  invalid_state: [400],
};

/** Codes by the status they are answered with; those with several stand under each. */
export function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const map = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    for (const status of [problems[code], ...(otherStatuses[code] ?? [])]) {
      map.set(status, [...(map.get(status) ?? []), code]);
    }
  }
  return new Map([...map].map(([status, told]) => [status, [...new Set([...told, ...entryCodesOf(status)])]]));
}

const entryCodesOf = (status: number) => entryCodes.filter((code) => problems[code] === status);
