/** How a call that policy forbids is refused: one number, one code and one kind of violation for each reason. */
import type { Json } from "../../kernel/json.ts";

export type PolicyCode =
  | "tool_not_allowed"
  | "tool_denied"
  | "path_not_allowed"
  | "command_not_allowed"
  | "subcommand_not_allowed"
  | "domain_not_allowed"
  | "rate_limited"
  | "no_matching_capability"
  | "concurrency_exceeded";

const numbers: { readonly [C in PolicyCode]: number } = {
  tool_not_allowed: 2000,
  tool_denied: 2001,
  path_not_allowed: 2002,
  command_not_allowed: 2003,
  subcommand_not_allowed: 2003,
  domain_not_allowed: 2004,
  rate_limited: 2005,
  no_matching_capability: 2006,
  concurrency_exceeded: 2008,
};

export type ViolationType =
  | "tool_not_allowed"
  | "tool_explicitly_denied"
  | "rate_limit_exceeded"
  | "path_outside_boundary"
  | "path_traversal_attempt"
  | "domain_not_allowed"
  | "command_not_allowed"
  | "subcommand_not_allowed"
  | "concurrent_exec_limit_exceeded";

export interface RefusalDetails {
  readonly [member: string]: Json;
  readonly tool: string;
  readonly violation_type: string;
}

export interface Refused {
  readonly allowed: false;
  /** 2000–2008. */
  readonly error_code: number;
  readonly code: PolicyCode;
  readonly violation_type: ViolationType;
  /** Names tool and reason. */
  readonly message: string;
  readonly details: RefusalDetails;
}

/** Which part of which context refuses. */
export interface RefusedBy {
  readonly security_context: string;
  readonly context_version: number;
  readonly capability_index: number | null;
}

export function refuse(
  code: PolicyCode,
  violation_type: ViolationType,
  message: string,
  tool: string,
  by: RefusedBy | null,
  more: { readonly [member: string]: Json } = {},
): Refused {
  const details = { tool, violation_type, ...by, ...more };
  return { allowed: false, error_code: numbers[code], code, violation_type, message, details };
}

/** The rate of a capability is used up. @param retryAfterSeconds at least 1 */
export const rateRefusal = (tool: string, by: RefusedBy, retryAfterSeconds: number): Refused =>
  refuse("rate_limited", "rate_limit_exceeded", `${tool} is called too often`, tool, by, {
    constraint: "rate_limit",
    limit_source: "capability",
    retry_after_seconds: retryAfterSeconds,
  });

/** As many calls of a capability run at once as it allows. */
export const concurrencyRefusal = (tool: string, by: RefusedBy, most: number): Refused =>
  refuse("concurrency_exceeded", "concurrent_exec_limit_exceeded", `${tool} runs ${most} times already`, tool, by, {
    constraint: "max_concurrent",
    allowed: most,
    limit_source: "capability",
    retry_after_seconds: 1,
  });
