/** Why the gateway is refused, and which failures of a model are worth another try. */
import type { ModelFailure } from "../activities.ts";
import type { GatewayAnswer } from "../messages.ts";

export type Refusal = Extract<GatewayAnswer, { status: "refused" }>;

const refuse = (http: number, code: string, message: string, retryAfter?: number): Refusal => ({
  status: "refused",
  http,
  code,
  message,
  ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
});

export const refusals = {
  executionNotFound: refuse(404, "execution_not_found", "Execution not found"),
  executionNotRunning: refuse(409, "execution_not_running", "The execution is not running"),
  formerInstance: refuse(401, "invalid_token", "The sandbox instance of this token has ended"),
  agentMismatch: refuse(403, "agent_mismatch", "The execution belongs to another agent"),
  iterationNotCurrent: refuse(409, "iteration_not_current", "That iteration is not the running one"),
  conversationTooLarge: refuse(413, "body_too_large", "This iteration has sent as much conversation as it may"),
  loopNotActive: refuse(409, "loop_not_active", "The loop of this message is not active"),
  dispatchNotFound: refuse(404, "dispatch_not_found", "Dispatch not found"),
  dispatchExpired: refuse(410, "dispatch_expired", "The dispatch was given up"),
  dispatchResultConflict: refuse(409, "dispatch_result_conflict", "The dispatch was answered with another result"),
  toolRoundLimit: refuse(409, "tool_round_limit", "The model used up its rounds without an answer"),
} satisfies Record<string, Refusal>;

/** Stands where an error class of a provider would: no provider was asked. */
export const TOKEN_BUDGET = "token_budget";
/** A budget of the agent is used up: told under a code after which no bootstrap asks again. */
export const budgetRefusal = (code: "upstream_invalid_input" | "upstream_provider", message: string): Refusal =>
  refuse(502, code, message);

interface Upstream {
  readonly http: number;
  readonly code: string;
  /** The same message later may succeed; the loop waits for it. */
  readonly retriable: boolean;
}

const upstream: Readonly<Record<string, Upstream>> = {
  authentication: { http: 502, code: "upstream_authentication", retriable: false },
  model_not_found: { http: 502, code: "upstream_model_not_found", retriable: false },
  invalid_input: { http: 502, code: "upstream_invalid_input", retriable: false },
  provider: { http: 502, code: "upstream_provider", retriable: false },
  network: { http: 502, code: "upstream_network", retriable: true },
  rate_limit: { http: 429, code: "upstream_rate_limit", retriable: true },
  service_unavailable: { http: 503, code: "upstream_unavailable", retriable: true },
  timeout: { http: 504, code: "upstream_timeout", retriable: true },
};
const anyOther: Upstream = { http: 502, code: "upstream_provider", retriable: false };
/** Seconds a sender is asked to wait when the provider named none. */
const defaultRetryAfter = 5;

/** The answer for a failed model call. */
export function upstreamRefusal(failure: ModelFailure, message: string): { refusal: Refusal; retriable: boolean } {
  const { http, code, retriable } = Object.hasOwn(upstream, failure.error_class)
    ? (upstream[failure.error_class] ?? anyOther)
    : anyOther;
  const waits = http === 429 || http === 503;
  const retryAfter = Math.ceil(failure.retry_after_seconds ?? defaultRetryAfter);
  return { refusal: refuse(http, code, message, waits ? retryAfter : undefined), retriable };
}

/** Model errors after which no iteration can succeed. */
export function isFatalModelError(errorClass: string): boolean {
  return errorClass === "authentication" || errorClass === "model_not_found" || errorClass === TOKEN_BUDGET;
}
