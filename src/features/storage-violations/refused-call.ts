/** Calls of tools on files that were refused for the path that they name. */
import type { Json } from "../../../actors/kernel/json.ts";
import type { Category } from "./records.ts";
import type { Violation } from "./service.ts";

const categories: Readonly<Record<string, Category>> = {
  path_traversal_attempt: "path_traversal_blocked",
  path_outside_boundary: "filesystem_policy_violation",
};

/** A refused call, as its incident tells of it. */
export interface RefusedCall {
  readonly tenant: string;
  readonly executionId: string | null;
  readonly sessionId: string | null;
  readonly toolName: string | null;
  readonly violationType: string | null;
  readonly details: { readonly [member: string]: Json };
}

/** The violation that such a refusal is; null: it is none of storage. */
export function violationOfCall(call: RefusedCall): Violation | null {
  const { tenant, executionId, sessionId, toolName, violationType, details } = call;
  const category = violationType === null ? undefined : categories[violationType];
  if (category === undefined || toolName === null || !toolName.startsWith("fs.")) return null;
  const { attempted, principal = null } = details;
  return {
    category,
    tenant,
    by: sessionId ?? (typeof principal === "string" ? principal : null),
    volumeId: null,
    executionId,
    path: typeof attempted === "string" ? attempted : null,
    operation: toolName,
    details: { violation_type: violationType },
  };
}
