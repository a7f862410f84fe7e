/** The facts that a start is decided by, gathered on the agent as this start has it. Nothing is stored here. */

import type { JudgeValidator } from "../../../../actors/agent/manifest/execution/results.ts";
import { referencesOfAgent } from "../../../../actors/agent/manifest/references.ts";
import type { StartFacts } from "../../../../actors/execution/start/facts.ts";
import { sourceIds } from "../../../../actors/execution/start/mounts.ts";
import type { Attachment, Header } from "../../../../actors/execution/start/plan.ts";
import { type AgentReference, maxInputBytes, type StartRequest } from "../../../../actors/execution/start/request.ts";
import {
  contextNamed,
  type SettledSpec,
  type StartOffer,
  settleAgent,
} from "../../../../actors/execution/start/settle.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { isObject } from "../../../../actors/kernel/json.ts";
import { type Issue, invalid, invalidAt, Problem, refusalOf } from "../../../../actors/kernel/problem.ts";
import type { TenantTerms } from "../../../../actors/policy/quota.ts";
import { isUuid } from "../../../http/route.ts";
import { type Checking, checkAgainstSchema, inputFault } from "../../../lib/schema-check/input-check.ts";
import type { Agents } from "../../agents/port.ts";
import type { References } from "../../references/port.ts";
import type { ContextReader } from "../../security-contexts/port.ts";
import type { ToolRegistry } from "../../tools/port.ts";
import type { OpenVolumes } from "../../volumes/port.ts";
import { agentUse } from "../references/references.ts";

export interface StartFactsOptions {
  readonly agents: Pick<Agents, "resolveForExecution">;
  readonly volumes: Pick<OpenVolumes, "checkFiles" | "readable">;
  readonly references: Pick<References, "unusable">;
  readonly contexts: Pick<ContextReader, "ofStart">;
  readonly offer: StartOffer;
  /** What a tenant has of all providers. */
  readonly tools: Pick<ToolRegistry, "of">;
  /** What the tenant may have, as it stands now. */
  readonly terms: (tenant: string) => Promise<TenantTerms>;
  readonly bounds: Header["bounds"];
}

/**
 * @param left gives the signal that the caller has left; null: the start is stored, and waits for as long as it takes
 * @throws Problem 404, 409 when there is no such agent or version, or it may not run; 5xx when a fact cannot be had
 */
export async function gatherStartFacts(
  { agents, volumes, references, contexts, offer: offered, tools, bounds, terms: termsOf }: StartFactsOptions,
  executionId: string,
  request: StartRequest,
  left: Checking["left"],
): Promise<StartFacts> {
  const { tenant, starter, version = null } = request;
  const found = await agents.resolveForExecution({
    tenant,
    ...referenceIn(request),
    ...(version === null ? {} : { version }),
  });
  const terms = await termsOf(tenant);
  const context = await contexts.ofStart(tenant, contextNamed(found, request), starter, terms.tier);
  const offer = { ...offered, catalogue: (await tools.of(tenant)).entries };
  const agent = settleAgent(found, request, offer, context);
  const given = agent.takesAttachments ? (request.attachments ?? []) : [];
  const [attachments, unusableAgents, unusable, sources] = await Promise.all([
    given.length === 0 ? [] : refusalOf(volumes.checkFiles(tenant, starter, given)),
    unusableReferences(agents, tenant, agent.spec),
    references.unusable(agentUse(executionId, request, agent), referencesOfAgent(agent.spec)),
    volumes.readable(tenant, starter, sourceIds(agent.spec.volumes)),
  ]);
  const files = attachments instanceof Problem ? [] : [...attachments, ...agent.runAttachments];
  const input = await refusalOf(settleInput({ tenant, left }, request.input, files, agent.spec.input_schema));
  return {
    executionId,
    terms,
    agent,
    offer,
    bounds,
    attachments,
    input,
    unusableAgents,
    references: unusable,
    sources,
  };
}

function referenceIn(request: AgentReference): AgentReference {
  if ("ofService" in request) return { ofService: request.ofService };
  return "agentId" in request ? { agentId: request.agentId } : { agentName: request.agentName };
}

/**
 * The input as the agent gets it: attachments folded in, conforming to the schema, parsed where its text was JSON,
 * defaults filled in.
 * @param schema the agent's `input_schema`; null admits anything
 * @throws Problem 422 `input_validation_failed`
 */
async function settleInput(
  checking: Checking,
  given: Json,
  attachments: readonly Attachment[],
  schema: Json,
): Promise<{ value: Json }> {
  const text = JSON.stringify(given);
  const fault = inputFault(given, text, maxInputBytes);
  if (fault !== null) throw invalidAt("input_validation_failed", "input", fault);
  const input = folded(given, attachments);
  if (schema === null) return { value: input };
  const verdict = await checkAgainstSchema(checking, schema, input, text.length);
  if (!verdict.ok) {
    const issues = verdict.issues.map((issue) => ({ ...issue, code: "input_validation_failed" }));
    throw invalid("input_validation_failed", "The input does not fit the agent's input_schema", issues);
  }
  return { value: verdict.input };
}

/** With attachments an object gains them; any other input becomes an object of both. */
function folded(input: Json, attachments: readonly Attachment[]): Json {
  if (attachments.length === 0) return input;
  const list = attachments.map((attachment) => ({ ...attachment }));
  return isObject(input) ? { ...input, attachments: list } : { value: input, attachments: list };
}

interface Reference {
  readonly path: string;
  /** UUID or name. */
  readonly agent: string;
}

/**
 * Every judge, and the agent of a required output handler, must exist and be able to run. That of an optional handler
 * need not: the execution then ends with a warning.
 */
async function unusableReferences(
  agents: Pick<Agents, "resolveForExecution">,
  tenant: string,
  { execution, output_handler: handler }: SettledSpec,
): Promise<readonly Issue[]> {
  const references: Reference[] = [
    ...execution.validators.flatMap((validator) =>
      validator.type === "semantic" || validator.type === "multi_judge"
        ? judgesOf("execution.validation", validator)
        : [],
    ),
    ...execution.tool_judges.flatMap((judge) => judgesOf("execution.tool_validation", judge)),
  ];
  if (handler?.type === "agent" && handler.required) {
    references.push({ path: "output_handler.agent_id", agent: handler.agent });
  }
  const found = await Promise.all(references.map((reference) => lookUp(agents, tenant, reference)));
  return found.filter((issue) => issue !== null);
}

function judgesOf(path: string, judge: JudgeValidator): Reference[] {
  const names = judge.type === "semantic" ? [judge.judge_agent] : judge.judges.map(({ agent }) => agent);
  return names.map((agent) => ({ path, agent }));
}

async function lookUp(
  agents: Pick<Agents, "resolveForExecution">,
  tenant: string,
  { path, agent }: Reference,
): Promise<Issue | null> {
  const key = isUuid(agent) ? { agentId: agent } : { agentName: agent };
  const found = await refusalOf(agents.resolveForExecution({ tenant, ...key }));
  return found instanceof Problem ? { path, message: `${agent}: ${found.message}`, code: "judge_not_found" } : null;
}
