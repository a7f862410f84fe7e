/** Whether a security context would allow a call now. Nothing is counted, and no incident is reported. */
import { readCallTarget } from "../../../actors/edge/call-target.ts";
import { evaluateOnHost, splitTarget, together } from "../../../actors/edge/host-calls.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { asksOf } from "../../../actors/policy/security/asked.ts";
import { callFacts } from "../../../actors/policy/security/call-facts.ts";
import { type Binding, evaluate } from "../../../actors/policy/security/evaluate.ts";
import type { Refused } from "../../../actors/policy/security/refusals.ts";
import type { RegisteredTool, ToolRegistry } from "../tools/port.ts";
import type { CallCounters } from "./counters.ts";
import type { ContextReader } from "./known.ts";
import type { EvaluateBody, VerdictBody } from "./schema.ts";

/** The ceilings of an execution's calls; null: the tenant has no such execution. */
export type CeilingsOf = (tenant: string, executionId: string) => Promise<readonly string[] | null>;

export interface DryRunOptions {
  readonly contexts: Pick<ContextReader, "bindings">;
  readonly counters: Pick<CallCounters, "peek">;
  readonly ceilingsOf: CeilingsOf;
  readonly registry: Pick<ToolRegistry, "of">;
}

/**
 * @param principal of the caller, whose calls count where no execution is named
 * @throws Problem 404 `security_context_not_found`, `execution_not_found`; 503 while Redis does not answer
 */
export async function dryRun(
  { contexts, counters, ceilingsOf, registry }: DryRunOptions,
  tenant: string,
  principal: string,
  name: string,
  { tool_name, arguments: given = {}, execution_id }: EvaluateBody,
): Promise<VerdictBody> {
  const ceilings = execution_id === undefined ? [] : await ceilingsOf(tenant, execution_id);
  if (ceilings === null) throw new Problem("execution_not_found", "There is no such execution");
  const bindings = await contexts.bindings(tenant, name, ceilings);
  const [own] = bindings;
  if (own === undefined || own.spec === null) {
    throw new Problem("security_context_not_found", "There is no such security context");
  }
  const tool = (await registry.of(tenant)).find(tool_name);
  const verdict = verdictOf(tool, tool_name, given, bindings);
  if (!verdict.allowed) return told(verdict, own.version, null);
  const { name: called, governing } = verdict;
  const whose = { tenant, principal: execution_id ?? principal };
  const { refused, remaining } = await counters.peek(whose, { tool: called, governing });
  if (refused !== null) return told(refused, own.version, remaining);
  return {
    allowed: true,
    code: null,
    error_code: null,
    violation_type: null,
    capability_index: governing[0]?.index ?? null,
    constraint: null,
    message: `${called} is allowed`,
    context_version: own.version,
    decided_by: governing[0]?.context ?? null,
    details: {},
    remaining,
    approval: verdict.asks,
  };
}

/**
 * As calls are judged: one for an edge host as what sends it there and as itself.
 * @throws Problem 422 for a target that names no host
 */
function verdictOf(
  tool: RegisteredTool | undefined,
  named: string,
  given: NonNullable<EvaluateBody["arguments"]>,
  bindings: readonly Binding[],
) {
  const { target, given: own } = splitTarget(tool, given);
  if (target === null || tool === undefined) {
    const call = callFacts(tool?.name ?? named, given, tool?.aliases);
    const verdict = evaluate(call, bindings);
    if (!verdict.allowed) return verdict;
    return { ...verdict, name: call.tool, asks: asksOf(verdict.governing, given).length > 0 };
  }
  const sent = evaluateOnHost({ target: readCallTarget(target), tool: tool.name, given: own }, bindings);
  if (!sent.allowed) return sent;
  const asks = [...asksOf(sent.sending, sent.asked), ...asksOf(sent.governing, own)];
  return { allowed: true as const, governing: together(sent), name: tool.name, asks: asks.length > 0 };
}

function told(
  { code, error_code, violation_type, message, details }: Refused,
  version: number,
  remaining: number | null,
): VerdictBody {
  const { capability_index: index, constraint, security_context: context } = details;
  return {
    allowed: false,
    code,
    error_code,
    violation_type,
    capability_index: typeof index === "number" ? index : null,
    constraint: typeof constraint === "string" ? constraint : null,
    message,
    context_version: version,
    decided_by: typeof context === "string" ? context : null,
    details,
    remaining,
    approval: false,
  };
}
