/** Answers to signed calls, as JSON text: ids and results are told as they are, and once made serve both places. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { isSealCode, sealErrors } from "../../../../actors/seal/errors.ts";
import { idText, type RpcId } from "../../../../actors/seal/rpc.ts";
import { type JsonText, textOfBody } from "../../../http/answer.ts";
import type { Invoked } from "../../pipeline/port.ts";
import type { SealRefusal } from "../refusal.ts";

type Members = { readonly [member: string]: Json };

/** A result, or the JSON of one. */
export type Result = Members | JsonText<Members>;

/** A result under the id of its request. */
export function successText(id: RpcId, result: Result): string {
  const [idOf, resultOf] = [idText(id), textOfBody(result)];
  const inner = `"jsonrpc":"2.0","id":${idOf},"result":${resultOf}`;
  return `{"protocol":"seal/v1","status":"success",${inner},"payload":{${inner}}}`;
}

/** A refusal of the call's own table. */
export function refusal(
  code: keyof typeof sealErrors,
  message: string,
  details: Members = {},
  retryAfterSeconds: number | null = null,
): SealRefusal {
  const { number, name, status } = sealErrors[code];
  const isLater = status === 429 || status === 503;
  const headers: Record<string, string> = isLater
    ? { "Retry-After": String(Math.max(1, Math.ceil(retryAfterSeconds ?? 1))) }
    : {};
  return { status, number, name, code, message, details, headers };
}

/** What a call came to: a result, of a tool that ran and failed as well, or a refusal. */
export type CallAnswer = { readonly status: 200 | 202; readonly result: Members } | { readonly refusal: SealRefusal };

/** @param passes the result is one of a tool server, which passes through */
export function answerOf(invoked: Invoked, tool: string, invocationId: string, passes: boolean): CallAnswer {
  switch (invoked.is) {
    case "succeeded":
      return { status: 200, result: passes ? invoked.result : { status: "success", ...invoked.result } };
    case "waiting": {
      const { approval_id, expires_at } = invoked;
      const told = { approval_id, invocation_id: invocationId, expires_at };
      return { status: 202, result: { status: "pending", code: "approval_pending", ...told } };
    }
    case "refused": {
      const { code, error_code, message, violation_type, details: more } = invoked;
      const details = { tool, violation_type, ...more };
      const after = typeof more.retry_after_seconds === "number" ? more.retry_after_seconds : null;
      if (isSealCode(code)) return { refusal: refusal(code, message, details, after) };
      return { refusal: { ...refusal("tool_not_allowed", message, details), number: error_code, code } };
    }
    case "failed": {
      const { code, message, details, issues, ran } = invoked;
      const members: Members = { ...(isMembers(details) ? details : {}), ...(issues === undefined ? {} : { issues }) };
      if (isSealCode(code) && (sealErrors[code].number < 0 || !ran))
        return { refusal: refusal(code, message, members) };
      const failed = { status: "error", isError: true, tool, error: message, code, message };
      return { status: 200, result: { ...members, ...failed } };
    }
  }
}

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
