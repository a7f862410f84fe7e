/**
 * What policy says of calls, in one order for every way that a call comes: by name, whether there is such a tool, by its
 * arguments, by the constraints of its contexts, by rates, by the limits of tenant and user.
 */
import type { ToolGrant } from "../../../actors/agent/manifest/spec.ts";
import { type CallTarget, readCallTarget } from "../../../actors/edge/call-target.ts";
import {
  evaluateOnHost,
  onFleet,
  runsOnHosts,
  type SentCall,
  splitTarget,
  together,
} from "../../../actors/edge/host-calls.ts";
import { isObject, type Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { demands } from "../../../actors/policy/rates/limits.ts";
import { toolResource } from "../../../actors/policy/rates/resources.ts";
import { asks, asksOf } from "../../../actors/policy/security/asked.ts";
import { callFacts } from "../../../actors/policy/security/call-facts.ts";
import type { AskedApproval, FailedCall, RefusedCall } from "../../../actors/policy/security/clearance.ts";
import {
  type Binding,
  boundsOf,
  byName,
  domainRulesOf,
  evaluate,
  type Governing,
  pathRulesOf,
} from "../../../actors/policy/security/evaluate.ts";
import type { Refused } from "../../../actors/policy/security/refusals.ts";
import { capabilityDefaults } from "../../../actors/policy/security/spec.ts";
import { CMD_RUN, canonicalName } from "../../../actors/tool/catalog.ts";
import type { Limiter } from "../limits/port.ts";
import type { CallCounters, ContextReader } from "../security-contexts/port.ts";
import type { Call, RegisteredTool, ToolRegistry, ToolSet } from "../tools/port.ts";
import { argumentIssues, written } from "./arguments.ts";
import { grantsFor, hasActor, isOffered, type Named } from "./effective.ts";
import { hostSchema } from "./host-schema.ts";
import { digestOf } from "./on-record.ts";
import { type Cleared, isCleared, type Judged } from "./port.ts";

export interface ClearOptions {
  readonly registry: ToolRegistry;
  readonly contexts: Pick<ContextReader, "bindings">;
  readonly counters: Pick<CallCounters, "debit">;
  readonly limiter: Pick<Limiter, "debit">;
}

/** @param calls all of one tenant, caller and policy; see `Pipeline.clear` */
export async function clearCalls(
  { registry, contexts, counters, limiter }: ClearOptions,
  calls: readonly Call[],
  again: boolean,
): Promise<readonly Judged[]> {
  const [first] = calls;
  if (first === undefined) return [];
  const { tenant, policy } = first;
  // The rules are those of now, however long it takes to hold the call against them.
  const at = performance.now();
  const [set, bindings] = await Promise.all([
    registry.of(tenant),
    contexts.bindings(tenant, policy.context, policy.ceilings),
  ]);
  const judged = await Promise.all(calls.map((call) => judge(set, bindings, call, at)));
  return again ? judged : counted({ counters, limiter }, calls, judged);
}

async function judge(set: ToolSet, bindings: readonly Binding[], call: Call, at: number): Promise<Judged> {
  const { who } = call;
  const found = set.find(call.tool);
  const { target: place, given: addressed } = splitTarget(found, call.arguments);
  const name = found?.name ?? canonicalName(call.tool);
  const refused = found?.always === true ? null : refusedByName(bindings, call, found ?? { name }, place !== null);
  if (refused !== null) return refused;
  if (found === undefined) return failed(bindings, call, name, "unknown_tool", `There is no tool ${name}`);
  if (found.withheld === true) {
    const message = `${name} was changed by its server, and is withheld until the change is accepted`;
    return failed(bindings, call, name, "tool_changed", message);
  }
  const given = written(found, addressed);
  if (place !== null) return judgeOnHost(bindings, call, found, { place, given }, at);
  if (found.executor === "sandbox" && who.execution === null) {
    const message = `${name} works in the sandbox of an execution, and this caller has none`;
    return failed(bindings, call, name, "execution_required", message);
  }
  const issues = await argumentIssues(call, found, given);
  if (issues.length > 0) {
    return failed(bindings, call, name, "invalid_arguments", `${name}: the arguments do not fit`, issues);
  }
  if (found.always === true) return cleared(bindings, call, { tool: found, given, governing: [], at });
  const verdict = evaluate(callFacts(name, given, found.aliases), bindings);
  if (!verdict.allowed) return refusal(bindings, call, name, verdict);
  return cleared(bindings, call, { tool: found, given, governing: verdict.governing, at });
}

/** A call that a host is to run has to pass as what sends it there, and then as itself; which paths it may touch is the host's. */
async function judgeOnHost(
  bindings: readonly Binding[],
  call: Call,
  tool: RegisteredTool,
  { place, given }: { readonly place: Json; readonly given: Call["arguments"] },
  at: number,
): Promise<Judged> {
  const { name } = tool;
  if (!runsOnHosts(tool)) return failed(bindings, call, name, "unknown_tool", `Hosts have no tool ${name}`);
  let target: CallTarget;
  try {
    target = readCallTarget(place);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return failed(bindings, call, name, "invalid_arguments", `${name}: the target does not fit`, issuesOf(error));
  }
  const issues = await argumentIssues(call, tool, given, hostSchema(tool));
  if (issues.length > 0) {
    return failed(bindings, call, name, "invalid_arguments", `${name}: the arguments do not fit`, issues);
  }
  const verdict = evaluateOnHost({ target, tool: name, given }, bindings);
  if (!verdict.allowed) {
    const isSending = verdict.details.tool === onFleet;
    return refusal(bindings, call, isSending ? onFleet : name, verdict);
  }
  return cleared(bindings, call, { tool, given, governing: verdict.governing, at, sent: { ...verdict, target } });
}

/** What is wrong with a request, as callers of tools are told. */
const issuesOf = ({ extras, message }: Problem): readonly { readonly [member: string]: Json }[] => {
  const { issues } = extras;
  return Array.isArray(issues) ? issues.filter(isObject) : [{ path: "target", message, code: "invalid" }];
};

/** @param isSent to another machine, which has to be allowed first */
function refusedByName(
  bindings: readonly Binding[],
  call: Call,
  tool: Named & Partial<Pick<RegisteredTool, "source">>,
  isSent: boolean,
): Judged | null {
  const { name } = tool;
  const sending = isSent ? refusedBy(bindings, call, { name: onFleet }) : null;
  const refused = sending ?? refusedBy(bindings, call, tool);
  if (refused !== null) return refused;
  if (hasActor(call.who)) return null;
  if (isSent) return nobodyActs(bindings, call, onFleet);
  return tool.source === "management" ? nobodyActs(bindings, call, name) : null;
}

function refusedBy(bindings: readonly Binding[], call: Call, tool: Named): Judged | null {
  const refused = byName(tool.name, bindings, isOffered(call.policy, tool), tool.aliases);
  return refused === null ? null : refusal(bindings, call, tool.name, refused);
}

function nobodyActs(bindings: readonly Binding[], call: Call, tool: string): Judged {
  const message = `${tool} acts for the user who started the work, and this was started by none`;
  return refusal(bindings, call, tool, {
    error_code: 2000,
    code: "tool_not_allowed",
    violation_type: "tool_not_allowed",
    message,
    details: { tool, violation_type: "tool_not_allowed", constraint: "starter", attempted: tool },
  });
}

const common = ([own]: readonly Binding[], { invocationId, policy, arguments: given }: Call, tool: string) => ({
  invocation_id: invocationId,
  tool,
  arguments_sha256: digestOf(given),
  context: policy.context,
  context_version: own?.spec ? own.version : null,
  capability_index: null,
});

function failed(
  bindings: readonly Binding[],
  call: Call,
  tool: string,
  code: string,
  message: string,
  issues: readonly { readonly [member: string]: Json }[] = [],
): Judged {
  const clearance: FailedCall = { is: "failed", ...common(bindings, call, tool), code, message };
  return { clearance: issues.length === 0 ? clearance : { ...clearance, issues: [...issues] } };
}

type Refusal = Omit<Refused, "allowed" | "code" | "violation_type"> & {
  readonly code: string;
  readonly violation_type: string;
};

function refusal(bindings: readonly Binding[], call: Call, tool: string, refused: Refusal): Judged {
  const { error_code, code, violation_type, message, details } = refused;
  const { security_context, context_version, capability_index } = details;
  const clearance: RefusedCall = {
    is: "refused",
    ...common(bindings, call, tool),
    // That of the context that refuses, which may be a ceiling.
    ...(typeof security_context === "string" ? { context: security_context } : {}),
    ...(typeof context_version === "number" ? { context_version } : {}),
    capability_index: typeof capability_index === "number" ? capability_index : null,
    error_code,
    code,
    violation_type,
    message,
    attempted: typeof details.attempted === "string" ? details.attempted : tool,
    details: { ...details },
  };
  return { clearance };
}

interface Passed {
  readonly tool: RegisteredTool;
  readonly given: Call["arguments"];
  /** Of the tool itself. */
  readonly governing: readonly Governing[];
  readonly at: number;
  /** Of a call that a host runs: which, and the same as a call of what sends it there. */
  readonly sent?: SentCall & { readonly target: CallTarget };
}

function cleared(
  bindings: readonly Binding[],
  call: Call,
  { tool, given, governing: ofTool, at, sent }: Passed,
): Cleared {
  const grants = grantsFor(call.policy.tools, tool) ?? [];
  const governing = sent === undefined ? ofTool : together(sent);
  const bounds = boundsOf(governing);
  const pathRules = sent === undefined ? pathRulesOf(governing) : [];
  const skipsJudge = tool.skipJudge === true || grants.some(({ skip_judge }) => skip_judge);
  const [own] = ofTool;
  const asked = [
    ...(sent === undefined ? [] : asksOf(sent.sending, sent.asked)),
    ...asksOf(ofTool, given),
    ...(sent === undefined ? [] : manifestAsks(grantsFor(call.policy.tools, { name: onFleet }) ?? [], sent.asked)),
    ...manifestAsks(grants, given),
  ];
  return {
    clearance: {
      is: "cleared",
      ...common(bindings, call, tool.name),
      capability_index: own?.index ?? null,
      entry: {
        name: tool.name,
        runs: sent === undefined ? tool.runs : "service",
        read_only: tool.readOnly,
        ...(skipsJudge ? { skip_judge: true } : {}),
      },
      // One rule that governs both is asked once.
      approvals: distinct(asked),
      ...(sent === undefined && tool.name === CMD_RUN && call.entry === "dispatch"
        ? dispatched(governing, pathRules)
        : {}),
      ...(sent === undefined ? {} : { on_host: true as const }),
      max_timeout_secs: bounds.maxTimeoutSecs,
      max_response_size: bounds.maxResponseBytes,
    },
    tool,
    arguments: given,
    target: sent?.target ?? null,
    governing,
    bounds: { ...bounds, pathRules, domainRules: domainRulesOf(governing) },
    at,
  };
}

const manifestAsks = (grants: readonly ToolGrant[], given: Call["arguments"]): AskedApproval[] =>
  grants.flatMap(({ approval }): AskedApproval[] =>
    approval !== undefined && asks(approval, given) ? [{ from: "manifest", approval }] : [],
  );

function distinct(asked: readonly AskedApproval[]): AskedApproval[] {
  const known = new Set<string>();
  return asked.filter((one) => {
    const text = JSON.stringify(one);
    return !known.has(text) && known.add(text);
  });
}

/** What is still to be seen to when the gateway hands a command out. */
const dispatched = (governing: readonly Governing[], pathRules: readonly unknown[]) => ({
  places: placesOf(governing),
  ...(pathRules.length === 0 ? {} : { directory_bound: true as const }),
});

const placesOf = (governing: readonly Governing[]) =>
  governing.map(({ context, version, index, capability }) => ({
    ...{ context, version, index },
    most: capability.max_concurrent ?? capabilityDefaults.max_concurrent,
  }));

/** Those that their rates and limits let through; each of them is counted. */
async function counted(
  { counters, limiter }: Pick<ClearOptions, "counters" | "limiter">,
  calls: readonly Call[],
  judged: readonly Judged[],
): Promise<readonly Judged[]> {
  const passing = judged.flatMap((one, at) => (isCleared(one) && one.tool.always !== true ? [{ one, at }] : []));
  const [first] = calls;
  if (first === undefined || passing.length === 0) return judged;
  const { tenant, who } = first;
  const said = await counters.debit(
    { tenant, principal: who.principal },
    passing.map(({ one: { tool, governing } }) => ({ tool: tool.name, governing })),
  );
  const results = [...judged];
  await Promise.all(
    passing.map(async ({ one, at }, index) => {
      const call = calls[at];
      if (call === undefined) return;
      const refused = said[index] ?? null;
      results[at] = refused === null ? await inAccount(limiter, call, one) : recounted(call, one, refused);
    }),
  );
  return results;
}

const recounted = (call: Call, one: Cleared, refused: Refusal): Judged => {
  const { context, context_version, capability_index } = one.clearance;
  const judged = refusal([], call, one.tool.name, refused);
  if (judged.clearance.is !== "refused") return judged;
  const { details } = judged.clearance;
  const isNamed = typeof details.security_context === "string";
  return isNamed ? judged : { clearance: { ...judged.clearance, context, context_version, capability_index } };
};

async function inAccount(limiter: Pick<Limiter, "debit">, call: Call, one: Cleared): Promise<Judged> {
  const resource = toolResource(one.tool.name);
  const resources = one.target === null ? [resource] : [toolResource(onFleet), resource];
  try {
    const { warnings } = await limiter.debit({
      tenant: call.tenant,
      user: call.who.user,
      demands: resources.map((name) => demands.of(name)),
    });
    return warnings.length === 0 ? one : { ...one, warnings };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 429) throw error;
    const { tool } = one;
    const { retry_after_seconds: told, resource_type: of } = error.extras;
    const told_of = typeof of === "string" ? of : resource;
    const seconds = typeof told === "number" ? Math.ceil(told) : 1;
    return recounted(call, one, {
      error_code: 2005,
      code: "rate_limited",
      violation_type: "rate_limit_exceeded",
      message: `The rate of ${told_of} is used up; ${tool.name} may be called again in ${seconds} s`,
      details: {
        tool: tool.name,
        violation_type: "rate_limit_exceeded",
        constraint: "account_limit",
        attempted: tool.name,
        limit_source: "account",
        resource_type: told_of,
        retry_after_seconds: seconds,
      },
    });
  }
}
