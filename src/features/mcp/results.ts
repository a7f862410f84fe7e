/** What becomes of a call, as results of the protocol: JSON, and the same as text for clients that read only that. */
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import type { Made } from "./asking.ts";

type Body = { readonly [member: string]: Json };

/** A result whose body is this object. */
export const resultOf = (body: Body, isError = false): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(body) }],
  structuredContent: body,
  ...(isError ? { isError } : {}),
});

/** A call that did not do what it was asked to; `details` never hide what says so. */
export const failure = (tool: string, code: string, message: string, details: Body = {}): CallToolResult =>
  resultOf({ ...details, status: "error", isError: true, tool, error: message, code, message }, true);

export function answerOf(tool: string, answered: Made): CallToolResult | InputRequiredResult {
  switch (answered.is) {
    case "asks":
      return answered.question;
    case "ended":
      return resultOf(answered.result, answered.outcome !== "success");
    case "succeeded": {
      const edited = answered.edited === true ? { edited: true } : {};
      return resultOf({ status: "success", ...answered.result, ...edited });
    }
    case "waiting": {
      const { approval_id, invocation_id, expires_at } = answered;
      return resultOf({ status: "pending", code: "approval_pending", approval_id, invocation_id, expires_at });
    }
    case "failed": {
      const { code, message, details = {}, issues } = answered;
      const told = isObject(details) ? details : { details };
      return failure(tool, code, message, issues === undefined ? told : { ...told, issues: [...issues] });
    }
    case "refused": {
      const { error_code, code, violation_type, message, details } = answered;
      return failure(tool, code, message, { ...details, error_code, violation_type });
    }
  }
}
