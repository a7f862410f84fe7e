/**
 * The rates of the execution's own tenant and user at work in a loop: a model that may not be asked now, calls of tools
 * that may not run now. Neither ends anything: the sender asks again, the model reads of the wait.
 */
import type { RateWarning } from "../../policy/rates/standing.ts";
import type { HeldCall, ModelAnswer, ModelOutcome, ToolCall } from "../activities.ts";
import type { Loop } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";
import { answerCall, discourage, failure, noteViolation, startedNow } from "./call-answers.ts";
import { answer } from "./loop-answer.ts";
import type { Refusal } from "./refusal.ts";

/** Codes of a `model.call` that was not begun. */
export const heldBack = { dry: "rate_limited", unknown: "limiter_unavailable" } as const;

type Failed = Extract<ModelOutcome, { ok: false }>;

/** What a model call that the limits held back is answered with; null for one that was made. */
export function heldBackRefusal({ code, message, details }: Failed): Refusal | null {
  if (code !== heldBack.dry && code !== heldBack.unknown) return null;
  const { retry_after_seconds = 1, refusal = {} } = details as {
    readonly retry_after_seconds?: number;
    readonly refusal?: NonNullable<Refusal["extras"]>;
  };
  const isDry = code === heldBack.dry;
  return {
    status: "refused",
    http: isDry ? 429 : 503,
    // Told from a provider's limit.
    code: isDry ? "llm_quota_exceeded" : code,
    message,
    retry_after: retry_after_seconds,
    extras: refusal,
  };
}

/** The same message later goes on; the time until then is none of the model's. */
export function answerHeldBack(turn: ExecutionTurn, loop: Loop, refusal: Refusal): void {
  loop.asked_at = null;
  answer(turn, loop, refusal);
}

/** Tells of windows of which most is used up now. */
export function noteRateWarnings(turn: ExecutionTurn, warnings: ModelAnswer["rate_warnings"] = []): void {
  for (const { resource, bucket, scope, limit } of warnings) {
    turn.emit("rate_limit_warning", { resource_type: resource, bucket, scope_type: scope, limit, timestamp: turn.at });
  }
}

/** As a `model.call` tells of them. */
export const rateWarning = ({ resource, bucket, scope, limit }: RateWarning) => ({ resource, bucket, scope, limit });

/** Answers a call for which its bucket was dry (2005), as answers of earlier versions tell of it. */
export function refuseHeldCall(turn: ExecutionTurn, loop: Loop, call: ToolCall, tool: string, held: HeldCall): void {
  const code = "rate_limited";
  const { resource_type, retry_after_seconds } = held;
  const seconds = Math.ceil(retry_after_seconds);
  const message = `The rate of ${resource_type} is used up; ${tool} may be called again in ${seconds} s`;
  const begun = startedNow(turn, call.id, tool, call.arguments);
  noteViolation(turn, tool, code, { code, error_code: 2005, attempted: tool, limit_source: "account", ...held });
  const result = {
    ...failure(tool, code, discourage(message)),
    error_code: 2005,
    limit_source: "account",
    retry_after_seconds,
  };
  answerCall(turn, loop, begun, "refused", result, { error: message });
}
