/** Whether a security context would allow a call now. Nothing is counted, and no incident is reported. */
import { Problem } from "../../../actors/kernel/problem.ts";
import { asksOf } from "../../../actors/policy/security/asked.ts";
import { callFacts } from "../../../actors/policy/security/call-facts.ts";
import { evaluate } from "../../../actors/policy/security/evaluate.ts";
import type { Refused } from "../../../actors/policy/security/refusals.ts";
import type { ToolRegistry } from "../tools/port.ts";
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
  const call = callFacts(tool?.name ?? tool_name, given, tool?.aliases);
  const verdict = evaluate(call, bindings);
  if (!verdict.allowed) return told(verdict, own.version, null);
  const { governing } = verdict;
  const whose = { tenant, principal: execution_id ?? principal };
  const { refused, remaining } = await counters.peek(whose, { tool: call.tool, governing });
  if (refused !== null) return told(refused, own.version, remaining);
  return {
    allowed: true,
    code: null,
    error_code: null,
    violation_type: null,
    capability_index: governing[0]?.index ?? null,
    constraint: null,
    message: `${call.tool} is allowed`,
    context_version: own.version,
    remaining,
    approval: asksOf(governing, call.arguments).length > 0,
  };
}

function told(
  { code, error_code, violation_type, message, details }: Refused,
  version: number,
  remaining: number | null,
): VerdictBody {
  const { capability_index: index, constraint } = details;
  return {
    allowed: false,
    code,
    error_code,
    violation_type,
    capability_index: typeof index === "number" ? index : null,
    constraint: typeof constraint === "string" ? constraint : null,
    message,
    context_version: version,
    remaining,
    approval: false,
  };
}
