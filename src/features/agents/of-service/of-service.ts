/**
 * Agents that the service itself brings (docs/decisions/agents-of-the-service.md). They are part of the program: no row
 * holds them, no list shows them, no caller can start them. What they do is an execution like any other, of the tenant
 * that it is done for.
 */

import { validateManifest } from "../../../../actors/agent/manifest/manifest.ts";
import type { AgentSpec, NodeOffer } from "../../../../actors/agent/manifest/spec.ts";
import { agentWriter, programWriter, type ServiceAgentName } from "../../../../actors/agent/of-service.ts";
import type { ResolvedAgent } from "../../../../actors/execution/start/request.ts";
import { systemTenant } from "../../../../actors/identity/identity.ts";
import { version } from "../../../../package.json";
import { derivedUuid } from "../../../lib/digest.ts";
import { agentWriterTask } from "./agent-writer.ts";
import { programWriterTask } from "./program-writer.ts";
import type { ServiceTask } from "./task.ts";

export interface ServiceAgents {
  agent(name: ServiceAgentName): ResolvedAgent;
  /** Whether the id is of one of them. */
  has(agentId: string): boolean;
}

const tasks: Readonly<Record<ServiceAgentName, ServiceTask>> = {
  [agentWriter]: agentWriterTask,
  [programWriter]: programWriterTask,
};

const idOf = (name: string): string => derivedUuid(`agent of the service: ${name}`);
const ids: ReadonlySet<string> = new Set(Object.keys(tasks).map(idOf));

/** The first of these that a model answers to is used. */
const models = ["smart", "default"] as const;
const unchanged = new Date(0).toISOString();

export function serviceAgents(offer: NodeOffer): ServiceAgents {
  const specs = new Map<ServiceAgentName, AgentSpec>();
  const specOf = (name: ServiceAgentName): AgentSpec => {
    const known = specs.get(name) ?? readSpec(name, offer);
    specs.set(name, known);
    return known;
  };
  return {
    agent(name) {
      const spec = specOf(name);
      const model = models.find((alias) => offer.servesModel(alias)) ?? "default";
      return {
        agent_id: idOf(name),
        name,
        version,
        revision: 1,
        tenant: systemTenant,
        deployed: { realm: null, user_id: "svc", at: unchanged },
        spec: { ...spec, metadata: { ...spec.metadata, name }, runtime: { ...spec.runtime, model } },
      };
    },
    has: (agentId) => ids.has(agentId),
  };
}

/** @throws Error for a manifest that is wrong, which a test finds */
function readSpec(name: ServiceAgentName, offer: NodeOffer): AgentSpec {
  const { description, instruction, prompt } = tasks[name];
  const document = {
    apiVersion: "svc.dev/v1",
    kind: "Agent",
    metadata: { name: name.replaceAll(".", "-"), version, description },
    spec: {
      // Never started: they run without an instance.
      runtime: { language: "python", version: "3.12" },
      task: { instruction, prompt_template: prompt },
      execution: {
        llm_timeout_seconds: 240,
        iteration_timeout: 300,
        validation: [{ type: "regex", pattern: "\\S" }],
      },
      security: { resources: { timeout: 300 } },
    },
  };
  // What an operator allows of images and isolations is about what has an instance.
  const verdict = validateManifest(document, { ...offer, imageRegistries: null });
  if (!verdict.ok) throw verdict.problem;
  return verdict.spec;
}
