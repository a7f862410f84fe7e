/** What the record of a call says of it, and the incident that a refusal is. */
import { createHash } from "node:crypto";
import type { Json } from "../../../actors/kernel/json.ts";
import type { CallClearance } from "../../../actors/policy/security/clearance.ts";
import { type InvocationBegin, keptArgumentBytes } from "../../../actors/tool/invocation.ts";
import type { Category, Incident } from "../incidents/port.ts";
import type { Call } from "../tools/port.ts";

type Arguments = Call["arguments"];

/** Of the arguments as they came, so that equal calls can be told although secrets are hidden. */
export const digestOf = (given: Arguments): string => createHash("sha256").update(JSON.stringify(given)).digest("hex");

/** The beginning of their JSON, as much of it as is kept. */
function keptArguments(given: Arguments): string {
  const text = JSON.stringify(given);
  if (Buffer.byteLength(text) <= keptArgumentBytes) return text;
  // Room for the mark of a character that was cut in two.
  return Buffer.from(text)
    .subarray(0, keptArgumentBytes - 3)
    .toString()
    .toWellFormed();
}

/** @param shown the arguments without what is secret */
export function beginOf(call: Call, clearance: CallClearance, shown: Arguments): InvocationBegin {
  const { who, entry, requestId } = call;
  return {
    execution_id: who.execution?.id ?? who.run?.id ?? null,
    iteration_number: who.execution?.iteration ?? null,
    agent_id: who.execution?.agentId ?? null,
    workflow_name: who.execution?.workflowName ?? who.run?.workflow_name ?? null,
    session_id: who.sessionId,
    principal: who.principal,
    entry,
    tool_name: clearance.tool,
    arguments: keptArguments(shown),
    arguments_sha256: digestOf(call.arguments),
    decision: clearance.is === "refused" ? "deny" : "allow",
    security_context: clearance.context,
    context_version: clearance.context_version,
    capability_index: clearance.capability_index,
    request_id: requestId,
  };
}

/** A refusal, by whichever part of the way. */
export interface RefusalFacts {
  readonly error_code: number;
  readonly code: string;
  readonly violation_type: string;
  readonly attempted: string;
  /** What refuses it, where a context does. */
  readonly context?: string;
  readonly context_version?: number | null;
  readonly capability_index?: number | null;
}

const longestDetail = 300;
const shortened = (text: string): string => text.slice(0, longestDetail).toWellFormed();

/** A caller may try again what a rate or a number of calls refuses. */
function categoryOf({ error_code, code }: Pick<RefusalFacts, "error_code" | "code">, isSealed: boolean): Category {
  if (error_code === 2005 || error_code === 2008) return "policy_violation_attempted";
  if (code === "address_blocked") return "ssrf_blocked";
  return isSealed ? "seal_policy_violation_blocked" : "policy_violation_blocked";
}

export function incidentOf(call: Call, tool: string, refusal: RefusalFacts): Incident {
  const { error_code, code, violation_type, attempted, context, context_version, capability_index } = refusal;
  const { execution, run, sessionId, principal } = call.who;
  const by = context === undefined ? {} : { security_context: context };
  const version = typeof context_version === "number" ? { context_version } : {};
  const place = typeof capability_index === "number" ? { capability_index } : {};
  const details: { readonly [member: string]: Json } = {
    ...{ code, error_code, attempted: shortened(attempted) },
    ...{ ...by, ...version, ...place },
  };
  return {
    category: categoryOf(refusal, call.entry === "seal"),
    tenant: call.tenant,
    agentId: execution?.agentId ?? null,
    executionId: execution?.id ?? run?.id ?? null,
    sessionId,
    toolName: shortened(tool),
    violationType: violation_type,
    details: execution === null && run === undefined && sessionId === null ? { ...details, principal } : details,
  };
}
