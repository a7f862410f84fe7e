/** Starting an execution: the checks in the contract's order, and the plan they settle. */
import { type Header, maxDepth, type Plan, type Warning } from "../../../../actors/execution/start/plan.ts";
import { invalid, Problem } from "../../../../actors/kernel/problem.ts";
import {
  contextPermits,
  defaultSecurityContext,
  isSecurityContext,
  mayUseContext,
} from "../../../../actors/policy/security-context.ts";
import { selectTools, sparedFromJudges } from "../../../../actors/tool/catalog.ts";
import type { Agents, ResolvedAgent } from "../../agents/service.ts";
import type { Attachment } from "../../volumes/attachments/attachments.ts";
import type { OpenVolumes } from "../../volumes/open.ts";
import { implicitWorkspace, judgeMounts, recordedVolumes } from "../../volumes/volumes.ts";
import { bringsNothingToRun, inlineIsolation } from "../iteration/inline.ts";
import { requireFreeKeys, requirePrompt, settleInput } from "./input.ts";
import { attachmentsOf, overlaid } from "./overrides.ts";
import { requireAgents } from "./references.ts";
import { refused, type StartRequest } from "./request.ts";

/** Processes an instance may hold at once. */
const maxProcesses = 512;

export interface StartOptions {
  readonly agents: Pick<Agents, "resolveForExecution">;
  readonly servesModel: (alias: string) => boolean;
  /** Isolations this node can give, and what `inherit` means. */
  readonly isolations: readonly string[];
  readonly defaultIsolation: string;
  /** Whether instances of this isolation can be kept from the network. */
  readonly enforcesNetwork: (isolation: string) => boolean;
  /** Whether an agent may be open to every public host. */
  readonly openEgress: boolean;
  readonly volumes: Pick<OpenVolumes, "settle" | "checkAttachments">;
  readonly bounds: Header["bounds"];
}

/**
 * Judges a start and settles what it will be. Nothing is stored but volumes, and those only once it is admitted.
 * @param admit the last check of all; it may count the execution
 * @throws Problem 403, 404, 409, 422; what `admit` throws
 */
export async function prepareStart(
  options: StartOptions,
  executionId: string,
  request: StartRequest,
  admit: () => Promise<void>,
): Promise<{ header: Header; plan: Plan }> {
  const { volumes } = options;
  const { tenant, origin, version = null } = request;
  const found = await options.agents.resolveForExecution({
    tenant,
    ...("agentId" in request ? { agentId: request.agentId } : { agentName: request.agentName }),
    ...(version === null ? {} : { version }),
  });
  const agent = overlaid(found, request.overrides);
  const { spec } = agent;
  const overrides = request.contextOverrides ?? null;
  const intent = request.intent ?? null;
  const securityContext = settleContext(agent, request);
  const { tools, unmatched } = effectiveTools(agent, securityContext);
  const refs = request.attachments ?? [];
  const checked = await volumes.checkAttachments(tenant, request.starter, refs, spec.input_schema, tools);
  const attachments = [...checked, ...attachmentsOf(request.overrides, spec.input_schema, tools)];
  const input = await settleInput(request.input, attachments, spec.input_schema);
  requireFreeKeys(overrides);
  const plan = { ...planOf(agent), input, context_overrides: overrides, attachments, tools };
  const budgets = settleBudgets(agent, request);
  requirePrompt(plan, intent, budgets.max_iterations);
  requireTools(unmatched);
  if (!options.servesModel(spec.runtime.model)) {
    throw refused("unknown_model_alias", "runtime.model", `no model answers to the alias ${spec.runtime.model}`);
  }
  await requireAgents(options.agents, tenant, agent);
  const isInline = bringsNothingToRun(agent.spec, plan, request);
  const { isolation, warnings } = settleRuntime(options, agent, isInline);
  const hierarchy = placeOf(executionId, request, spec.swarm);
  await admit();
  // Last of all: this stores volumes.
  const { mounts, filesystem } = isInline
    ? { mounts: [], filesystem: plan.filesystem }
    : await settleMounts(options, executionId, agent, request, attachments);
  return {
    header: {
      agent_id: agent.agent_id,
      agent_name: agent.name,
      agent_version: agent.version,
      agent_revision: agent.revision,
      mode: spec.execution.mode,
      ...budgets,
      iteration_timeout_ms: spec.execution.iteration_timeout_ms,
      llm_timeout_ms: spec.execution.llm_timeout_ms,
      intent,
      labels: request.labels ?? {},
      trigger: origin.trigger,
      workflow_name: origin.workflow?.name ?? null,
      workflow_execution_id: origin.workflow?.executionId ?? null,
      hierarchy,
      security_context: securityContext,
      initiating_user_sub: origin.initiatingUserSub,
      runtime: { isolation, image: isInline ? null : spec.runtime.image, sandbox: null, egress_enforced: null },
      ...(isInline ? { inline: true } : {}),
      volumes: recordedVolumes(mounts),
      warnings,
      bounds: options.bounds,
    },
    plan: { ...plan, mounts, filesystem },
  };
}

/** What the agent brings, whatever the request adds. */
function planOf({ spec }: ResolvedAgent): Plan {
  const { metadata, runtime, task, execution, resources, network, filesystem } = spec;
  return {
    instruction: task.instruction,
    description: metadata.description,
    prompt_template: task.prompt_template,
    input_data: task.input_data,
    agentskills: [...task.agentskills],
    context: spec.context.map((item) => ({ ...item })),
    input: null,
    context_overrides: null,
    attachments: [],
    model: { alias: runtime.model, temperature: runtime.temperature },
    tools: [],
    validators: [...execution.validators],
    tool_judges: [...execution.tool_judges],
    output_handler: spec.output_handler,
    deliveries: [...execution.deliveries],
    mounts: [],
    image_pull_policy: runtime.image_pull_policy,
    warm_pool_size: spec.warm_pool_size,
    env: { ...runtime.bootstrap_env, ...spec.env },
    resources: {
      cpu_millicores: resources.cpu_millicores,
      memory_bytes: resources.memory_bytes,
      disk_bytes: resources.disk_bytes,
      processes: maxProcesses,
    },
    filesystem: { read: [...filesystem.read], write: [...filesystem.write], read_only: filesystem.read_only },
    network: network === null ? null : { ...network },
    startup_script: spec.startup_script,
    bootstrap_path: spec.bootstrap_path,
  };
}

/** A judge sees the volumes of what it judges; everybody else has volumes of his own, under a policy of his own. */
async function settleMounts(
  { volumes }: StartOptions,
  executionId: string,
  { agent_id, spec }: ResolvedAgent,
  { tenant, starter, judgedMounts = [], overrides }: StartRequest,
  attachments: readonly Attachment[],
): Promise<Pick<Plan, "mounts" | "filesystem">> {
  const { read, write, read_only } = spec.filesystem;
  if (spec.metadata.agent_type === "judge" && judgedMounts.length > 0) {
    const seen = judgeMounts(judgedMounts);
    // A workflow's run may have no workspace.
    const own = seen.some(({ mount_path }) => mount_path === "/workspace") ? [] : [implicitWorkspace(executionId)];
    return { mounts: [...own, ...seen], filesystem: { read: [], write: [], read_only } };
  }
  const given = overrides?.mounts ?? [];
  const mounts = await volumes.settle(tenant, agent_id, executionId, starter, spec.volumes, attachments, given);
  return { mounts, filesystem: { read: [...read], write: [...write], read_only } };
}

/** Where the execution stands below its parent. A swarm has the id of the execution that founded it. */
function placeOf(executionId: string, { origin }: StartRequest, swarm: boolean): Header["hierarchy"] {
  const { parent } = origin;
  const founded = swarm ? executionId : null;
  if (parent === null) return { parent_execution_id: null, depth: 0, path: [], swarm_id: founded };
  if (parent.depth >= maxDepth) {
    throw new Problem("depth_exceeded", `Executions nest at most ${maxDepth} deep below their root`);
  }
  return {
    parent_execution_id: parent.executionId,
    depth: parent.depth + 1,
    path: [...parent.path, parent.executionId],
    swarm_id: parent.swarmId ?? founded,
  };
}

/** A start may lower what the manifest grants, never raise it. */
function settleBudgets({ spec }: ResolvedAgent, request: StartRequest) {
  const { execution, resources } = spec;
  const { timeoutSeconds = null, maxIterations = null, maxTokens = null, origin } = request;
  const seconds = resources.timeout_ms / 1000;
  // A parent bounds a child without knowing the child's manifest.
  const wished = origin.parent === null || timeoutSeconds === null ? timeoutSeconds : Math.min(seconds, timeoutSeconds);
  return {
    timeout_ms: lowered("timeout_seconds", seconds, wished) * 1000,
    max_iterations: lowered("max_iterations", execution.max_iterations, maxIterations),
    max_tokens: execution.max_tokens === null ? maxTokens : lowered("max_tokens", execution.max_tokens, maxTokens),
  };
}

function lowered(path: string, granted: number, wished: number | null): number {
  if (wished !== null && wished > granted) {
    throw refused("validation_failed", path, `must not exceed the manifest's ${granted}`);
  }
  return wished ?? granted;
}

/** The manifest's context was judged when it was deployed; the caller's wish counts where it names none. */
function settleContext(
  { spec }: ResolvedAgent,
  { securityContext: wish = null, starter, overrides }: StartRequest,
): string {
  const laidOver = overrides?.security_context ?? null;
  const name = spec.security_context ?? laidOver ?? wish ?? defaultSecurityContext;
  if (!isSecurityContext(name)) {
    throw refused("unknown_security_context", "security_context", `there is no security context ${name}`);
  }
  if (spec.security_context === null && laidOver === null && !mayUseContext(name, starter)) {
    throw new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
  }
  return name;
}

/** The manifest's tools that the context permits; `unmatched` are the patterns that open none at all. */
function effectiveTools({ spec }: ResolvedAgent, securityContext: string) {
  const { tools, unmatched } = selectTools(spec.tools.map(({ name }) => name));
  const permitted = tools.filter(({ name }) => contextPermits(securityContext, name));
  return { tools: sparedFromJudges(permitted, spec.tools), unmatched };
}

function requireTools(unmatched: readonly string[]): void {
  if (unmatched.length === 0) return;
  const issues = unmatched.map((name) => ({
    path: "tools",
    message: `no tool answers to ${name}`,
    code: "unknown_tool",
  }));
  throw invalid("unknown_tool", "The agent names tools that do not exist here", issues);
}

function settleRuntime(
  options: StartOptions,
  { spec }: ResolvedAgent,
  isInline: boolean,
): { isolation: string; warnings: Warning[] } {
  const { isolation: wished } = spec.runtime;
  const isolation = wished === "inherit" ? options.defaultIsolation : wished;
  if (!options.isolations.includes(isolation)) {
    throw refused("runtime_unavailable", "runtime.isolation", `${isolation} is not offered here`);
  }
  if (spec.network !== null && spec.network.mode !== "none" && !options.enforcesNetwork(isolation)) {
    throw refused("runtime_unavailable", "security.network", `${isolation} cannot enforce a network policy here`);
  }
  const isOpen = spec.network?.mode === "allow" && spec.network.allowlist.length === 0;
  if (isOpen && !options.openEgress) {
    throw refused("open_egress_forbidden", "security.network.allowlist", "this node opens the whole network to nobody");
  }
  if (isInline) return { isolation: inlineIsolation, warnings: [] };
  return { isolation, warnings: isolation === "process" ? ignoredUnderProcess(spec) : [] };
}

/** What a manifest may say of containers only. */
function ignoredUnderProcess({ runtime, warm_pool_size }: ResolvedAgent["spec"]): Warning[] {
  const image = "Under process isolation the programs of the host are used, not the image's";
  const pool = "Under process isolation no instances are kept ready: they start at once";
  return [
    ...(runtime.language === null ? [{ code: "image_ignored", message: image }] : []),
    ...(warm_pool_size > 0 ? [{ code: "warm_pool_ignored", message: pool }] : []),
  ];
}
