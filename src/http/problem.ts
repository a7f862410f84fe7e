/** The one place where failures become answers. */
import { Problem } from "../../actors/kernel/problem.ts";
import { lacksRoom } from "../lib/files/disk-room.ts";
import { SlotsFull } from "../lib/guarded/slots.ts";
import { AskTimeout, MailboxFull, RuntimeUnavailable } from "../runtime/port.ts";
import { isDatabaseUnavailable } from "../store/postgres/pool.ts";
import { isRedisUnavailable } from "../store/redis/connections.ts";

/** A full disk is seldom empty again within a second. */
const roomAfterSeconds = 10;

/** What a failure is called towards the caller; null for a bug, which is only logged. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof MailboxFull) {
    return new Problem("mailbox_full", "Too much is waiting already", {}, retryAfter(error.retryAfterSeconds));
  }
  // The caller does not read the answer; work for a caller who has left ends by this.
  if (error instanceof DOMException && error.name === "AbortError") {
    return new Problem("service_unavailable", "The caller has left", {}, retryAfter(1));
  }
  if (error instanceof SlotsFull) {
    const code = error.of === "tenant" ? "too_many_checks" : "service_unavailable";
    return new Problem(code, `Too many checks and listings of the ${error.of} are waiting`, {}, retryAfter(1));
  }
  if (error instanceof AskTimeout) return new Problem("timed_out", "The answer did not come in time");
  if (error instanceof RuntimeUnavailable || isDatabaseUnavailable(error) || isRedisUnavailable(error)) {
    return new Problem("service_unavailable", "The service cannot do this now", {}, retryAfter(1));
  }
  // The error itself names a path of the host.
  if (lacksRoom(error)) {
    return new Problem("service_unavailable", "There is no room to store this now", {}, retryAfter(roomAfterSeconds));
  }
  return isUnstorableText(error)
    ? new Problem("validation_failed", "The request holds text that cannot be stored", {
        issues: [{ path: "", message: "contains a NUL character or a lone surrogate", code: "invalid" }],
      })
    : null;
}

const retryAfter = (seconds: number) => ({ "Retry-After": String(Math.max(1, Math.ceil(seconds))) });

/** PostgreSQL's refusals of NUL and of lone surrogates: the caller's doing wherever a closer check is missing. */
function isUnstorableText(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as Error & { code?: unknown }).code;
  return code === "22021" || code === "22P05" || (code === "22P02" && /type json/.test(error.message));
}

/** The wire form of a problem. */
export function problemResponse(problem: Problem, requestId: string): Response {
  const headers = new Headers({ "Content-Type": "application/json", ...challenge(problem), ...problem.headers });
  const body = { error: problem.message, code: problem.code, request_id: requestId, ...problem.extras };
  return new Response(JSON.stringify(body), { status: problem.status, headers });
}

export const internalError = () => new Problem("internal_error", "Something went wrong on our side");

/** Of deliveries that prove themselves by a signature. */
const signatureCodes: ReadonlySet<string> = new Set(["missing_signature", "secret_not_found", "invalid_signature"]);

/** How a 401, or a 403 for want of a scope, tells the client what to bring. */
export function challenge(problem: Problem): Record<string, string> {
  if (problem.code === "insufficient_scope") {
    const scope = String(problem.extras.required_any ?? problem.extras.required ?? "");
    return { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${scope}"` };
  }
  if (problem.status !== 401) return {};
  if (signatureCodes.has(problem.code)) return { "WWW-Authenticate": "Signature" };
  return { "WWW-Authenticate": bearerChallenge(problem) };
}

/**
 * The challenge of a 401 of a route for bearer tokens.
 * @param metadata URL of the document that says which tokens the route takes (RFC 9728); null: it has none
 */
export function bearerChallenge({ code }: Problem, metadata: string | null = null): string {
  const presented = code !== "missing_authorization" && code !== "invalid_authorization_header";
  const facts = [
    ...(presented ? ['error="invalid_token"'] : []),
    ...(metadata === null ? [] : [`resource_metadata="${metadata}"`]),
  ];
  return facts.length === 0 ? "Bearer" : `Bearer ${facts.join(", ")}`;
}
