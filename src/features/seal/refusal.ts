/** Refusals of attestations and signed calls: one shape for every status, which their clients tell from success by. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Problem } from "../../../actors/kernel/problem.ts";
import { iso } from "../../../actors/kernel/time.ts";
import { attestationError, invocationError } from "../../../actors/seal/errors.ts";
import { idText, type RpcId } from "../../../actors/seal/rpc.ts";
import { challenge } from "../../http/problem.ts";

/** What is wrong with a request. */
export interface SealRefusal {
  readonly status: number;
  /** Stable, of the caller's library. */
  readonly number: number;
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly details: { readonly [member: string]: Json };
  readonly headers: Readonly<Record<string, string>>;
}

/** The refusal as JSON text. @param id of the JSON-RPC request, where it is known @param at Unix ms */
function refusalText(
  { number, name, code, message, details }: SealRefusal,
  requestId: string,
  id: RpcId | null,
  at: number,
): string {
  const text = id === null ? null : idText(id);
  const data = details.violation_type === undefined ? {} : { violation_type: details.violation_type };
  const body = {
    protocol: "seal/v1",
    status: "error",
    code,
    error_code: number,
    message,
    request_id: requestId,
    error: {
      code: number,
      name,
      message,
      timestamp: iso(at),
      request_id: id === null ? requestId : typeof id === "string" ? id : id.text,
      details,
    },
  };
  if (text === null) return JSON.stringify(body);
  // The id is told as it came: a number may be one that no parser keeps.
  const error = JSON.stringify({ code: number, message, data });
  return `${JSON.stringify(body).slice(0, -1)},"payload":{"jsonrpc":"2.0","id":${text},"error":${error}}}`;
}

/** A common refusal as one of an attestation. */
export const attestationRefusal = (problem: Problem): SealRefusal => ({
  ...common(problem),
  ...attestationError(problem.code),
  headers: { ...challenge(problem), ...common(problem).headers },
  code: problem.code,
});

/** A common refusal, of a step before the call's own perhaps, as one of a signed call. */
export const invocationRefusal = (problem: Problem): SealRefusal => ({
  ...common(problem),
  ...invocationError(problem.code, problem.status),
});

/** Refusals that are worth another try say when. */
function common({ status, message, extras, headers }: Problem) {
  const isLater = status === 429 || status === 503;
  const after = isLater && headers["Retry-After"] === undefined ? { "Retry-After": "1" } : {};
  // Issues and the like; they were made to be shown.
  const details = extras as SealRefusal["details"];
  return { status, message, details, headers: { ...headers, ...after } };
}

/** The refusal as it is sent. */
export function refusalResponse(refusal: SealRefusal, requestId: string, id: RpcId | null, at: number): Response {
  return new Response(refusalText(refusal, requestId, id, at), {
    status: refusal.status,
    headers: { "Content-Type": "application/json", ...refusal.headers },
  });
}
