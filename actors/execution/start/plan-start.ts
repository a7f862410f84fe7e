/**
 * The decision on a start, in one place: from the request and the facts to the plan of the execution, or to the problem
 * that refuses it. Every check applies to settled values: what an override, a default or a schema could still change has
 * been changed before.
 */

import { referencesOfAgent } from "../../agent/manifest/references.ts";
import { startedBy } from "../../identity/starter.ts";
import { Problem } from "../../kernel/problem.ts";
import { joinedCeilings, keptCeilings } from "../../policy/ceilings.ts";
import { countedFor } from "../../policy/rates/counted.ts";
import { missingPathWarnings } from "../prompt.ts";
import { type Settled, startChecks } from "./checks.ts";
import type { StartFacts, StartPlan, StartVolumes } from "./facts.ts";
import { implicitWorkspace, judgeMounts } from "./mounts.ts";
import type { Attachment, Header, Warning } from "./plan.ts";
import type { StartRequest } from "./request.ts";
import { inlineIsolation, needsNoInstance, type SettledAgent } from "./settle.ts";

/** Processes an instance may hold at once. */
const maxProcesses = 512;

/** @returns the plan, or the first check's problem: 403, 409 or 422 */
export function planStart(request: StartRequest, facts: StartFacts): StartPlan | Problem {
  const settled: Settled = { request, facts, start: settle(request, facts) };
  for (const check of startChecks) {
    const problem = check(settled);
    if (problem !== null) return problem;
  }
  return withTemplateWarnings(settled.start, facts.executionId);
}

function withTemplateWarnings(start: StartPlan, executionId: string): StartPlan {
  const { warnings } = start.header;
  const missing = missingPathWarnings(start, executionId);
  return missing.length === 0 ? start : { ...start, header: { ...start.header, warnings: [...warnings, ...missing] } };
}

function settle(request: StartRequest, facts: StartFacts): StartPlan {
  const { agent, executionId } = facts;
  const { spec, isolation } = agent;
  const { origin } = request;
  const found = facts.attachments instanceof Problem ? [] : facts.attachments;
  const attachments = [...found, ...agent.runAttachments];
  const isInline = needsNoInstance(spec, { tools: agent.tools, attachments }, request);
  const volumes = volumesOf(executionId, request, agent, isInline);
  const { execution, runtime } = spec;
  return {
    header: {
      agent_id: agent.agent_id,
      agent_name: agent.name,
      agent_version: agent.version,
      agent_revision: agent.revision,
      mode: execution.mode,
      ...budgetsOf(request, agent),
      iteration_timeout_ms: execution.iteration_timeout_ms,
      llm_timeout_ms: execution.llm_timeout_ms,
      intent: request.intent ?? null,
      labels: request.labels ?? {},
      trigger: origin.trigger,
      workflow_name: origin.workflow?.name ?? null,
      workflow_execution_id: origin.workflow?.executionId ?? null,
      hierarchy: hierarchyOf(executionId, request, spec.swarm),
      ...(origin.parent?.told === undefined ? {} : { told: origin.parent.told }),
      security_context: agent.context.name,
      initiating_user_sub: origin.initiatingUserSub,
      ...startedBy(request.startedBy),
      ...ceilingsOf(request, agent),
      ...countedFor(request.countedFor),
      retry_of: request.retryOf ?? null,
      runtime: {
        isolation: isInline ? inlineIsolation : isolation,
        image: isInline ? null : runtime.image,
        sandbox: null,
        egress_enforced: null,
      },
      ...(isInline ? { inline: true } : {}),
      warnings: [
        ...(request.warnings ?? []),
        ...(!isInline && isolation === "process" ? ignoredUnderProcess(agent) : []),
      ],
      bounds: facts.bounds,
    },
    plan: planOf(request, facts, attachments, volumes),
    attachments,
    volumes,
  };
}

/** Of a start that `checkCeilings` lets pass. */
function ceilingsOf({ ceilings }: StartRequest, agent: SettledAgent) {
  const joined = joinedCeilings(ceilings, agent.ceilings);
  return keptCeilings(joined instanceof Problem ? [] : joined);
}

function planOf(
  request: StartRequest,
  { agent, input }: StartFacts,
  attachments: readonly Attachment[],
  volumes: StartVolumes,
): StartPlan["plan"] {
  const { spec } = agent;
  const { metadata, runtime, task, execution, resources, network, filesystem } = spec;
  const { read, write, read_only } = filesystem;
  const seesAll = volumes.kind === "judged";
  return {
    instruction: task.instruction,
    description: metadata.description,
    prompt_template: task.prompt_template,
    input_data: task.input_data,
    agentskills: [...task.agentskills],
    context: spec.context.map((item) => ({ ...item })),
    input: input instanceof Problem ? null : input.value,
    context_overrides: request.contextOverrides ?? null,
    attachments: [...attachments],
    model: { alias: runtime.model, temperature: runtime.temperature },
    tools: [...agent.tools],
    calls: {
      agent_id: agent.agent_id,
      agent_name: agent.name,
      context: agent.context.name,
      grants: spec.tools.map((grant) => ({ ...grant })),
      ...startedBy(request.startedBy),
      ...ceilingsOf(request, agent),
    },
    validators: [...execution.validators],
    tool_judges: [...execution.tool_judges],
    output_handler: spec.output_handler,
    deliveries: [...execution.deliveries],
    ...hostMountsOf(spec, volumes),
    image_pull_policy: runtime.image_pull_policy,
    ...(runtime.registry_credentials === null ? {} : { registry_credentials: runtime.registry_credentials }),
    warm_pool_size: spec.warm_pool_size,
    env: { ...runtime.bootstrap_env, ...spec.env },
    ...(referencesOfAgent(spec).length === 0 ? {} : { references: referringFacts(request, agent) }),
    resources: {
      cpu_millicores: resources.cpu_millicores,
      memory_bytes: resources.memory_bytes,
      disk_bytes: resources.disk_bytes,
      processes: maxProcesses,
    },
    // A judge sees the volumes of what it judges as a whole.
    filesystem: { read: seesAll ? [] : [...read], write: seesAll ? [] : [...write], read_only },
    network: network === null ? null : { ...network },
    asked: {
      timeout_seconds: request.timeoutSeconds ?? null,
      max_iterations: request.maxIterations ?? null,
      max_tokens: request.maxTokens ?? null,
      security_context: request.securityContext ?? null,
    },
    startup_script: spec.startup_script,
    bootstrap_path: spec.bootstrap_path,
  };
}

/** What the use of references is decided by, at the start and at each launch. */
export function referringFacts(
  { origin }: Pick<StartRequest, "origin">,
  { tenant, deployed }: Pick<SettledAgent, "tenant" | "deployed">,
): NonNullable<StartPlan["plan"]["references"]> {
  const { initiatingUserSub: sub, initiatingRealm: realm = null, trigger } = origin;
  // Who deployed a scheduled agent begins none of its executions.
  const initiator = sub === null || trigger === "schedule" ? null : { realm, user_id: sub };
  return { tenant, deployed: { ...deployed }, initiator };
}

/** A judge sees the volumes of what it judges; every other agent has its own. */
function volumesOf(
  executionId: string,
  { judgedMounts = [], overrides }: StartRequest,
  { spec }: SettledAgent,
  isInline: boolean,
): StartVolumes {
  if (isInline) return { kind: "none" };
  if (spec.metadata.agent_type === "judge" && judgedMounts.length > 0) {
    const seen = judgeMounts(judgedMounts);
    // A workflow run may have no workspace.
    const own = seen.some(({ mount_path }) => mount_path === "/workspace") ? [] : [implicitWorkspace(executionId)];
    return { kind: "judged", mounts: [...own, ...seen] };
  }
  const declared = spec.volumes.filter(({ host_path }) => host_path === undefined);
  return { kind: "own", declared, ofRun: overrides?.mounts ?? [] };
}

function hostMountsOf(
  { volumes }: SettledAgent["spec"],
  { kind }: StartVolumes,
): Pick<StartPlan["plan"], "host_mounts"> {
  const opened = volumes.flatMap(({ host_path, mount_path, access_mode }) =>
    host_path === undefined ? [] : [{ mount_path, host_path, access_mode }],
  );
  return kind !== "own" || opened.length === 0 ? {} : { host_mounts: opened };
}

/** Where the execution stands below its parent. A swarm has the id of the execution that founded it. */
function hierarchyOf(executionId: string, { origin }: StartRequest, swarm: boolean): Header["hierarchy"] {
  const { parent } = origin;
  const founded = swarm ? executionId : null;
  if (parent === null) return { parent_execution_id: null, depth: 0, path: [], swarm_id: founded };
  return {
    parent_execution_id: parent.executionId,
    depth: parent.depth + 1,
    path: [...parent.path, parent.executionId],
    swarm_id: parent.swarmId ?? founded,
  };
}

/**
 * What the request asks for where it asks, else what the manifest grants; `checkBudgets` refuses what exceeds it. A parent
 * bounds a child without knowing the child's manifest, and a retry may meet another manifest than the execution that it
 * repeats: what they ask for beyond the manifest is the manifest's.
 */
function budgetsOf(request: StartRequest, { spec }: SettledAgent) {
  const { execution, resources } = spec;
  const { timeoutSeconds = null, maxIterations = null, maxTokens = null, retryOf = null, origin } = request;
  const isRetry = retryOf !== null;
  const bounded = (asked: number | null, granted: number | null, isLowered: boolean): number | null =>
    asked === null || (isLowered && granted !== null && granted < asked) ? granted : asked;
  const timeout = timeoutSeconds === null ? null : timeoutSeconds * 1000;
  return {
    timeout_ms: bounded(timeout, resources.timeout_ms, isRetry || origin.parent !== null) ?? resources.timeout_ms,
    max_iterations: bounded(maxIterations, execution.max_iterations, isRetry) ?? execution.max_iterations,
    max_tokens: bounded(maxTokens, execution.max_tokens, isRetry),
  };
}

/** What a manifest may say of containers only. */
function ignoredUnderProcess({ spec }: SettledAgent): Warning[] {
  const image = "Under process isolation the programs of the host are used, not the image's";
  const pool = "Under process isolation no instances are kept ready: they start at once";
  return [
    ...(spec.runtime.language === null ? [{ code: "image_ignored", message: image }] : []),
    ...(spec.warm_pool_size > 0 ? [{ code: "warm_pool_ignored", message: pool }] : []),
  ];
}
