/** Requests for starts, and what is decided on them. */

import type { AgentSpec, VolumeSpec } from "../../../../actors/agent/manifest/spec.ts";
import type { AgentRuntimeOverrides } from "../../../../actors/execution/child.ts";
import type { StartFacts } from "../../../../actors/execution/start/facts.ts";
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import { planStart } from "../../../../actors/execution/start/plan-start.ts";
import type { StartOrigin, StartRequest } from "../../../../actors/execution/start/request.ts";
import { contextNamed, type StartOffer, settleAgent } from "../../../../actors/execution/start/settle.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { usualTerms } from "../../../../actors/policy/quota.ts";
import { defaultSecurityContext, systemContext } from "../../../../actors/policy/security/system.ts";
import { offer as anyOffer, manifest, specOf } from "../../agent/offer.ts";
import { sampleHeader } from "../fixture.ts";

export const id = "0190f3c4-0000-7000-8000-000000000001";

const offered: StartOffer = {
  ...anyOffer,
  isolations: ["process", "docker"],
  enforcesNetwork: () => true,
  servesModel: () => true,
};

export const api: StartOrigin = {
  trigger: "api",
  parent: null,
  workflow: null,
  initiatingUserSub: "ann",
  exempt: false,
};

export const none: AgentRuntimeOverrides = {
  isolation: null,
  temperature: null,
  mounts: [],
  security_context: null,
  attachments: [],
};

export const volume = (mount_path: string): VolumeSpec => ({
  name: `own-${mount_path.length}`,
  mount_path,
  storage_class: "ephemeral",
  access_mode: "read-write",
  size_limit_bytes: 1,
  ttl_ms: 1,
  source_volume_id: null,
});

export const mount = (mount_path: string): MountPlan => {
  const { source_volume_id: _, ...facts } = volume(mount_path);
  return { ...facts, name: "run", volume_id: `run${mount_path}` };
};

export interface Change {
  readonly spec?: Partial<AgentSpec>;
  readonly request?: Partial<StartRequest>;
  readonly offer?: Partial<StartOffer>;
  readonly facts?: Partial<StartFacts>;
}

export function decide({ spec, request, offer, facts }: Change) {
  const asked: StartRequest = { agentId: id, tenant: "acme", origin: api, starter: null, input: {}, ...request };
  const offering = { ...offered, ...offer };
  const found = {
    agent_id: id,
    name: "greeter",
    version: "1.0.0",
    revision: 2,
    tenant: asked.tenant,
    deployed: { realm: "test", user_id: "ann", at: "2031-01-01T00:00:00.000Z" },
    spec: { ...specOf(manifest()), ...spec },
  };
  return planStart(asked, {
    executionId: id,
    terms: usualTerms(asked.tenant),
    agent: settleAgent(found, asked, offering, contextOf(found, asked)),
    offer: offering,
    bounds: sampleHeader().bounds,
    attachments: [],
    input: { value: asked.input },
    unusableAgents: [],
    references: null,
    sources: new Map(),
    ...facts,
  });
}

/** As the system's contexts are found where a tenant has none. */
function contextOf(found: Parameters<typeof contextNamed>[0], asked: StartRequest) {
  const { name, byCaller } = contextNamed(found, asked);
  const context = systemContext(name ?? defaultSecurityContext);
  const { tier } = usualTerms(asked.tenant);
  const isAllowed = !byCaller || (context?.usableBy(asked.starter, tier) ?? false);
  return { name: name ?? defaultSecurityContext, version: 1, spec: context?.spec ?? null, isAllowed };
}

export const codeOf = (change: Change): string | null => {
  const decision = decide(change);
  return decision instanceof Problem ? decision.code : null;
};

export const laid = (overrides: Partial<AgentRuntimeOverrides>, spec: Partial<AgentSpec> = {}): Change => ({
  spec,
  request: { overrides: { ...none, ...overrides } },
});
