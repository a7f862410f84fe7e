/** The checks of a start. Each looks at settled values only, and answers with the problem or null. */

import { bootstrapFault } from "../../agent/manifest/runtime/bootstrap.ts";
import { invalid, invalidAt, Problem } from "../../kernel/problem.ts";
import { imageFault } from "../../manifest/images/image.ts";
import { localImageFault } from "../../manifest/images/local-images.ts";
import { joinedCeilings } from "../../policy/ceilings.ts";
import { isWithin } from "../../policy/filesystem/mounts.ts";
import { storageQuota } from "../../policy/storage-quota.ts";
import { TemplateError } from "../../template/template.ts";
import { renderPrompt, reservedKeys } from "../prompt.ts";
import type { StartFacts, StartPlan } from "./facts.ts";
import { volumeIssues } from "./mounts.ts";
import { maxDepth } from "./plan.ts";
import type { StartRequest } from "./request.ts";

/** The request, the facts, and what both come to. */
export interface Settled {
  readonly request: StartRequest;
  readonly facts: StartFacts;
  readonly start: StartPlan;
}

/**
 * The checks of a start, in the order in which callers rely on their codes. The rate and concurrency limits follow once
 * all of these have passed, because they count the execution.
 */
export const startChecks: readonly ((settled: Settled) => Problem | null)[] = [
  checkSecurityContext,
  checkCeilings,
  checkAttachments,
  checkInput,
  checkOverrideKeys,
  checkBudgets,
  checkPrompt,
  checkTools,
  checkModel,
  checkAgents,
  checkReferences,
  checkIsolation,
  checkImage,
  checkBootstrap,
  checkNetwork,
  checkDepth,
  checkHostPaths,
  checkVolumes,
];

/** The manifest's context was checked when it was deployed, that of a run when it started. */
function checkSecurityContext({ facts }: Settled): Problem | null {
  const { name, spec, isAllowed } = facts.agent.context;
  if (spec === null) {
    return invalidAt("unknown_security_context", "security_context", `there is no security context ${name}`);
  }
  if (isAllowed) return null;
  return new Problem("security_context_forbidden", `The caller may not use the security context ${name}`);
}

/** Those of the call that starts it and those that its agent was deployed with. */
function checkCeilings({ request, facts }: Settled): Problem | null {
  const joined = joinedCeilings(request.ceilings, facts.agent.ceilings);
  return joined instanceof Problem ? joined : null;
}

function checkAttachments({ request, facts }: Settled): Problem | null {
  const { attachments = [] } = request;
  if (attachments.length === 0) return null;
  if (!facts.agent.takesAttachments) {
    const message =
      "The agent takes no attachments: its input_schema declares none, or svc.attachment.read is not among its tools";
    const issue = { path: "attachments", message: "are not taken by this agent", code: "attachments_not_declared" };
    return invalid("attachments_not_declared", message, [issue]);
  }
  return facts.attachments instanceof Problem ? facts.attachments : null;
}

function checkInput({ facts }: Settled): Problem | null {
  return facts.input instanceof Problem ? facts.input : null;
}

function checkOverrideKeys({ start }: Settled): Problem | null {
  const reserved = reservedKeys(start.plan.context_overrides);
  if (reserved.length === 0) return null;
  const issues = reserved.map((name) => ({
    path: `context_overrides.${name}`,
    message: "is a variable of its own",
    code: "reserved_override_key",
  }));
  return invalid("reserved_override_key", "Some keys of context_overrides are reserved", issues);
}

/** A start may lower what the manifest grants, never raise it. */
function checkBudgets({ start, facts }: Settled): Problem | null {
  const { execution, resources } = facts.agent.spec;
  const { timeout_ms, max_iterations, max_tokens } = start.header;
  return (
    exceeding("timeout_seconds", resources.timeout_ms / 1000, timeout_ms / 1000) ??
    exceeding("max_iterations", execution.max_iterations, max_iterations) ??
    exceeding("max_tokens", execution.max_tokens ?? Number.POSITIVE_INFINITY, max_tokens ?? 0)
  );
}

function exceeding(path: string, granted: number, asked: number): Problem | null {
  if (asked <= granted) return null;
  return invalidAt("validation_failed", path, `must not exceed the manifest's ${granted}`);
}

/** Renders the first prompt once, so that a template that cannot work is refused now. */
function checkPrompt({ start }: Settled): Problem | null {
  const { intent, max_iterations: maxIterations } = start.header;
  // The default prompt fits any input.
  if (start.plan.prompt_template === null) return null;
  try {
    renderPrompt(start.plan, { intent, iteration: 1, maxIterations, context: "", history: [] });
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return invalidAt("template_error", "task.prompt_template", error.message);
    throw error;
  }
}

function checkTools({ facts }: Settled): Problem | null {
  const { unmatchedTools } = facts.agent;
  if (unmatchedTools.length === 0) return null;
  const issues = unmatchedTools.map((name) => ({
    path: "tools",
    message: `no tool answers to ${name}`,
    code: "unknown_tool",
  }));
  return invalid("unknown_tool", "The agent names tools that do not exist here", issues);
}

function checkModel({ start, facts }: Settled): Problem | null {
  const { alias } = start.plan.model;
  if (facts.offer.servesModel(alias)) return null;
  return invalidAt("unknown_model_alias", "runtime.model", `no model answers to the alias ${alias}`);
}

function checkAgents({ facts }: Settled): Problem | null {
  if (facts.unusableAgents.length === 0) return null;
  return invalid("judge_not_found", "The agent needs agents that cannot run here", facts.unusableAgents);
}

function checkReferences({ facts }: Settled): Problem | null {
  return facts.references;
}

function checkIsolation({ facts: { agent, offer } }: Settled): Problem | null {
  if (offer.isolations.some((name) => name === agent.isolation)) return null;
  return invalidAt("runtime_unavailable", "runtime.isolation", `${agent.isolation} is not offered here`);
}

/** An image of the manifest; those of the node's own runtimes are the operator's. `process` uses none. */
function checkImage({ facts: { agent, offer } }: Settled): Problem | null {
  const { language, image } = agent.spec.runtime;
  if (language !== null || agent.isolation === "process") return null;
  const fault = imageFault(image, offer.imageRegistries);
  if (fault?.code === "image_not_allowed") return invalidAt(fault.code, "runtime.image", fault.message);
  const local = localImageFault(image, agent.spec.runtime.image_pull_policy, offer.localImages);
  return local === null ? null : invalidAt(local.code, "runtime.image_pull_policy", local.message);
}

/** In production no program of the host takes the bootstrap's place, in development only some may. */
function checkBootstrap({ facts: { agent, offer } }: Settled): Problem | null {
  const fault = bootstrapFault(agent.spec.bootstrap_path, agent.isolation, offer);
  return fault === null ? null : invalidAt("bootstrap_path_forbidden", "advanced.bootstrap_path", fault);
}

function checkNetwork({ facts: { agent, offer } }: Settled): Problem | null {
  const { network } = agent.spec;
  if (network === null || network.mode === "none") return null;
  if (!offer.enforcesNetwork(agent.isolation)) {
    const message = `${agent.isolation} cannot enforce a network policy here`;
    return invalidAt("runtime_unavailable", "security.network", message);
  }
  if (offer.openEgress || network.mode !== "allow" || network.allowlist.length > 0) return null;
  const message = "this node opens the whole network to no agent";
  return invalidAt("open_egress_forbidden", "security.network.allowlist", message);
}

function checkDepth({ start }: Settled): Problem | null {
  if (start.header.hierarchy.depth <= maxDepth) return null;
  return new Problem("depth_exceeded", `Executions nest at most ${maxDepth} deep below their root`);
}

/** Which directories of the host a node opens may have changed since the deploy. */
function checkHostPaths({ start, facts: { offer } }: Settled): Problem | null {
  const { host_mounts = [] } = start.plan;
  if (host_mounts.every(({ host_path }) => offer.hostPaths.some((allowed) => isWithin(host_path, allowed))))
    return null;
  return invalidAt("volume_type_forbidden", "volumes", "this node does not open these directories of its host");
}

function checkVolumes({ facts, start }: Settled): Problem | null {
  if (start.volumes.kind !== "own") return null;
  const { tenantBytes } = storageQuota(facts.terms);
  const issues = volumeIssues(start.volumes.declared, facts.sources, tenantBytes);
  return issues.length === 0 ? null : invalid("invalid_volume", "The agent's volumes cannot be used", issues);
}
