/** Why the payment provider did not do what it was asked. */
import type { Stripe } from "stripe";

/**
 * - `declined`: the payment was refused
 * - `missing`: what was named is not there (any more)
 * - `refused`: the provider would refuse the same request again
 * - `failed`: no usable answer, or an error of the provider's
 * - `timeout`: no answer in time; the effect may have happened
 */
export type FailureKind = "declined" | "missing" | "refused" | "failed" | "timeout";

/** Its message holds nothing that the provider wrote. */
export class PaymentFailure extends Error {
  override readonly name = "PaymentFailure";
  constructor(
    readonly kind: FailureKind,
    /** What was asked, for logs. */
    readonly operation: string,
    /** The provider's word for it (`resource_missing`), for decisions; null: none was given. */
    readonly code: string | null = null,
  ) {
    super(`The payment provider did not answer ${operation} (${kind})`);
  }
}

/** What the provider's client threw, as far as it is known. */
export interface Seen {
  readonly kind: FailureKind;
  readonly code: string | null;
  /** The same request under the same key may succeed at once: its connection broke, or another one held the same object. */
  readonly mayRepeat: boolean;
  /** For logs only. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

const timeoutCode = "ETIMEDOUT";

/** @param errors the error classes of the client */
export function seenAs(error: unknown, errors: Stripe["errors"]): Seen {
  if (!(error instanceof errors.StripeError)) {
    const text = error instanceof Error ? error.message : String(error);
    return { kind: "failed", code: null, mayRepeat: false, facts: { error: text } };
  }
  const code = error.code ?? null;
  const facts = {
    error: error.message,
    type: error.type,
    code,
    status: error.statusCode ?? null,
    provider_request_id: error.requestId ?? null,
  };
  if (error instanceof errors.StripeConnectionError) {
    const isTimeout = hasTimedOut(error.detail);
    return { kind: isTimeout ? "timeout" : "failed", code, mayRepeat: !isTimeout, facts };
  }
  const mayRepeat = error.statusCode === 409 || code === "lock_timeout";
  return { kind: kindOf(error.statusCode ?? 500, code), code, mayRepeat, facts };
}

function kindOf(status: number, code: string | null): FailureKind {
  if (status === 402) return "declined";
  if (status === 404 || code === "resource_missing") return "missing";
  return status === 400 ? "refused" : "failed";
}

/** Whether the request, or the reading of its answer, ran out of time. */
function hasTimedOut(detail: unknown): boolean {
  if (!(detail instanceof Error)) return false;
  return ("code" in detail && detail.code === timeoutCode) || hasTimedOut(detail.cause);
}
