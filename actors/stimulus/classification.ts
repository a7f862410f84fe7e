/**
 * What a router agent's reply means (docs/reference/stimuli.md). The reply was made from an untrusted message: it can
 * only select among workflows, and anything else in it leads to a defined refusal.
 */

import { isObject } from "../kernel/json.ts";
import { storableText, withoutFence } from "../kernel/text.ts";

/** What a reply names, how sure of it it is, and why. */
export interface RouterReply {
  /** As it is written there; may be anything. */
  readonly workflow: string;
  /** 0–1; 0 when the reply has none. */
  readonly confidence: number;
  readonly reasoning: string | null;
}

/** Why a stimulus was not classified: code, words and further members of the error body. */
export interface RoutingFault {
  readonly code: "router_agent_failed" | "classification_parse_error" | "classification_failed" | "unknown_workflow";
  readonly message: string;
  readonly extras: Readonly<Record<string, unknown>>;
}

/** How the execution of a router agent ended other than with an output. */
export interface RouterFailure {
  readonly reason: "failed" | "cancelled" | "timed_out" | "refused";
  /** Why, in the service's own words; may quote an error code. */
  readonly message: string;
}

/** A workflow as references find it. */
export interface KnownWorkflow {
  readonly workflow_id: string;
  /** The tenant it belongs to, or who stands for every tenant. */
  readonly owner: string;
  readonly name: string;
}

/** Characters of a reply that are looked at, and of what is kept of it. */
const maxReply = 262_144;
const maxWorkflow = 256;
const maxReasoning = 4096;

/** The members that may name the workflow; the first one that is a text does. */
const workflowKeys = ["workflow_id", "workflow", "workflow_name"] as const;

/** Reads a reply, one code fence around it removed. @returns what it says, or what is wrong with it */
export function readReply(output: string): RouterReply | { readonly fault: RoutingFault } {
  if (output.length > maxReply) return { fault: parseError(`it has more than ${maxReply} characters`) };
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(output));
  } catch {
    return { fault: parseError("it is no JSON") };
  }
  if (!isObject(value)) return { fault: parseError("it is no JSON object") };
  const member = (key: string): unknown => (Object.hasOwn(value, key) ? value[key] : undefined);
  const workflow = workflowKeys.map(member).find((named) => typeof named === "string");
  if (typeof workflow !== "string") return { fault: parseError("it names no workflow") };
  const confidence = Object.hasOwn(value, "confidence") ? value.confidence : 0;
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1)) {
    return { fault: parseError("its confidence is no number from 0 to 1") };
  }
  const reasoning = member("reasoning");
  return {
    workflow: kept(workflow.trim(), maxWorkflow),
    // Never -0, which would be written as 0 in one place and not in another.
    confidence: confidence + 0,
    reasoning: typeof reasoning === "string" ? kept(reasoning, maxReasoning) : null,
  };
}

/** Whether a reply is sure enough; exactly the threshold is. @returns null, or why it is not */
export function doubtOf({ workflow, confidence, reasoning }: RouterReply, threshold: number): RoutingFault | null {
  if (confidence >= threshold) return null;
  return {
    code: "classification_failed",
    message: "No workflow matched with enough confidence",
    extras: { confidence, threshold, workflow, reasoning },
  };
}

/**
 * Whether a router may choose a workflow.
 * @param listed what the router is restricted to: versions that were named by their UUID, and every version of what
 *   was named by its name; null: everything of the tenant's own, and nothing that is global
 */
export function isAllowed(
  found: KnownWorkflow,
  tenant: string,
  listed: readonly (KnownWorkflow & { readonly pinned: boolean })[] | null,
): boolean {
  if (listed === null) return found.owner === tenant;
  return listed.some(
    ({ workflow_id, owner, name, pinned }) =>
      workflow_id === found.workflow_id || (!pinned && owner === found.owner && name === found.name),
  );
}

export function unknownWorkflow({ workflow }: RouterReply): RoutingFault {
  return {
    code: "unknown_workflow",
    message: "The router chose a workflow that does not exist or may not be chosen",
    extras: { workflow },
  };
}

/** @param executionId of the router; null: it was never started */
export function agentFailed({ reason, message }: RouterFailure, executionId: string | null): RoutingFault {
  return { code: "router_agent_failed", message, extras: { reason, router_execution_id: executionId } };
}

function parseError(why: string): RoutingFault {
  return { code: "classification_parse_error", message: `The router's reply cannot be used: ${why}`, extras: {} };
}

/** The start of an untrusted text, as stores can hold it. */
function kept(text: string, characters: number): string {
  return storableText(text.slice(0, characters));
}
