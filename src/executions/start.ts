/** Starting an execution: the checks in the contract's order, and the plan they settle. */
import type { Json } from "../../actors/actor.ts";
import { isStorable } from "../../actors/agent/storable.ts";
import type { Header, Plan, Warning } from "../../actors/execution/plan.ts";
import type { Identity } from "../../actors/identity/identity.ts";
import { type Issue, invalid, Problem, type ProblemCode } from "../../actors/problem.ts";
import { selectTools } from "../../actors/tool/catalog.ts";
import type { Agents, ResolvedAgent } from "../agents/agents.ts";
import { isUuid } from "../http/route.ts";
import { maxInputBytes, type StartBody, type StartQuery } from "./schema.ts";

/** The security context of every execution until tenants can name others. */
const defaultSecurityContext = "svc-agent-runtime";
/** Characters; as in manifests. */
const maxLabelKey = 63;
/** Processes an instance may hold at once. */
const maxProcesses = 512;

export interface StartOptions {
  readonly agents: Pick<Agents, "resolveForExecution">;
  readonly servesModel: (alias: string) => boolean;
  /** Isolations this node can give, and what `inherit` means. */
  readonly isolations: readonly string[];
  readonly defaultIsolation: string;
  readonly bounds: Header["bounds"];
}

export interface StartRequest {
  readonly tenant: string;
  readonly identity: Identity;
  /** From the path, or from the body. */
  readonly agentId: string;
  readonly body: StartBody;
  readonly query: StartQuery;
}

/**
 * Judges a start. Nothing is stored.
 * @throws Problem 404, 409, 422
 */
export async function prepareStart(
  options: StartOptions,
  request: StartRequest,
): Promise<{ header: Header; plan: Plan }> {
  const { tenant, agentId, body, query } = request;
  const input = checkBody(body);
  const version = query.version ?? body.version;
  const agent = await options.agents.resolveForExecution({
    tenant,
    agentId,
    ...(version === undefined ? {} : { version }),
  });
  const { spec } = agent;
  const timeoutMs = lowered(spec.resources.timeout_ms, body.timeout_seconds);
  const tools = effectiveTools(agent);
  if (!options.servesModel(spec.runtime.model)) {
    throw refused("unknown_model_alias", "runtime.model", `no model answers to the alias ${spec.runtime.model}`);
  }
  const { isolation, warnings } = settleRuntime(options, agent);
  return {
    header: {
      agent_id: agent.agent_id,
      agent_name: agent.name,
      agent_version: agent.version,
      agent_revision: agent.revision,
      mode: spec.execution.mode,
      max_iterations: spec.execution.max_iterations,
      timeout_ms: timeoutMs,
      iteration_timeout_ms: spec.execution.iteration_timeout_ms,
      llm_timeout_ms: spec.execution.llm_timeout_ms,
      intent: body.intent ?? null,
      labels: body.labels ?? {},
      trigger: "api",
      workflow_name: null,
      workflow_execution_id: null,
      hierarchy: { parent_execution_id: null, depth: 0, path: [], swarm_id: null },
      security_context: defaultSecurityContext,
      initiating_user_sub: request.identity.userId,
      runtime: { isolation, image: spec.runtime.image, sandbox: null, egress_enforced: null },
      volumes: [],
      warnings,
      bounds: options.bounds,
    },
    plan: planOf(agent, input, tools),
  };
}

function planOf({ spec }: ResolvedAgent, input: Json, tools: Plan["tools"]): Plan {
  const { metadata, runtime, task, execution, resources, network, filesystem } = spec;
  return {
    instruction: task.instruction,
    description: metadata.description,
    prompt_template: task.prompt_template,
    input_data: task.input_data,
    agentskills: [...task.agentskills],
    context: "",
    input,
    context_overrides: null,
    attachments: [],
    model: { alias: runtime.model, temperature: runtime.temperature },
    tools,
    validators: [...execution.validators],
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

/** The agent's id from a body: a text that is no UUID is told apart from none at all. */
export function agentIdOf(body: StartBody): string {
  const { agent_id } = body;
  if (agent_id === undefined || agent_id === null) throw missing("agent_id");
  if (typeof agent_id !== "string" || !isUuid(agent_id)) throw new Problem("invalid_agent_id", "Invalid agent ID");
  return agent_id.toLowerCase();
}

/** What can be told without looking at the agent. @returns the input */
function checkBody(body: StartBody): Json {
  const { input, context_overrides, attachments, security_context, security_context_name } = body;
  if (input === undefined || input === null) throw missing("input");
  if (context_overrides !== undefined && context_overrides !== null) throw notYet("context_overrides");
  if (attachments !== undefined && attachments.length > 0) throw notYet("attachments");
  const context = security_context ?? security_context_name ?? defaultSecurityContext;
  if (context !== defaultSecurityContext) {
    throw refused("unknown_security_context", "security_context", `there is no security context ${context}`);
  }
  if (body.intent !== undefined && !isStorable(body.intent)) throw refused("validation_failed", "intent", unusableText);
  const labels = Object.entries(body.labels ?? {});
  if (labels.some(([key]) => key.length > maxLabelKey)) {
    throw refused("validation_failed", "labels", `keys may have at most ${maxLabelKey} characters`);
  }
  if (labels.some(([key, value]) => key === "" || !isStorable(key) || !isStorable(value))) {
    throw refused("validation_failed", "labels", "keys may not be empty; no NUL or broken Unicode");
  }
  const text = JSON.stringify(input);
  if (Buffer.byteLength(text) > maxInputBytes) {
    throw refused("input_validation_failed", "input", `is larger than ${maxInputBytes} bytes`);
  }
  // A prompt travels as a program's argument, which cannot hold NUL. Escapes show in the JSON text.
  if (/\\u0000|\\ud[89a-f]/i.test(text) && !isStorableJson(input)) {
    throw refused("input_validation_failed", "input", unusableText);
  }
  return input;
}

const unusableText = "contains a NUL character or broken Unicode";

function isStorableJson(value: Json): boolean {
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string" && !isStorable(next)) return false;
    if (next === null || typeof next !== "object") continue;
    for (const [key, child] of Object.entries(next)) {
      if (!isStorable(key)) return false;
      waiting.push(child as Json);
    }
  }
  return true;
}

/** A start may lower the manifest's timeout, never raise it. */
function lowered(manifestMs: number, seconds: number | undefined): number {
  if (seconds === undefined) return manifestMs;
  if (seconds * 1000 > manifestMs) {
    throw refused("validation_failed", "timeout_seconds", `must not exceed the manifest's ${manifestMs / 1000} s`);
  }
  return seconds * 1000;
}

function effectiveTools({ spec }: ResolvedAgent): Plan["tools"] {
  const { tools, unmatched } = selectTools(spec.tools.map(({ name }) => name));
  if (unmatched.length === 0) return tools;
  const issues = unmatched.map((name) => ({
    path: "tools",
    message: `no tool answers to ${name}`,
    code: "unknown_tool",
  }));
  throw invalid("unknown_tool", "The agent names tools that do not exist here", issues);
}

function settleRuntime(options: StartOptions, { spec }: ResolvedAgent): { isolation: string; warnings: Warning[] } {
  const { isolation: wished, language } = spec.runtime;
  const isolation = wished === "inherit" ? options.defaultIsolation : wished;
  if (!options.isolations.includes(isolation)) {
    throw refused("runtime_unavailable", "runtime.isolation", `${isolation} is not offered here`);
  }
  const ignoresImage = isolation === "process" && language === null;
  const warning = {
    code: "image_ignored",
    message: "Under process isolation the programs of the host are used, not the image's",
  };
  return { isolation, warnings: ignoresImage ? [warning] : [] };
}

function refused(code: ProblemCode, path: string, message: string): Problem {
  const issue: Issue = { path, message, code: code === "validation_failed" ? "invalid" : code };
  return invalid(code, `${path}: ${message}`, [issue]);
}

const missing = (path: string): Problem =>
  invalid("validation_failed", "The request is invalid", [{ path, message: "is required", code: "invalid" }]);

const notYet = (path: string): Problem =>
  refused("unsupported_field", path, "is not supported by this version of the service");
