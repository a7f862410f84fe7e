/** The facts of a start: gathered on the agent as the start has it, refusals kept as facts. */
import { expect, test } from "bun:test";
import type { AgentSpec } from "../../../../actors/agent/manifest/spec.ts";
import type { ResolvedAgent, StartRequest } from "../../../../actors/execution/start/request.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { usualTerms } from "../../../../actors/policy/quota.ts";
import { builtinTools } from "../../../../actors/tool/catalog.ts";
import { gatherStartFacts, type StartFactsOptions } from "../../../../src/features/executions/start/facts.ts";
import { manifest, manifestWith, offer, specOf } from "../../../actors/agent/offer.ts";
import { sampleHeader } from "../../../actors/execution/fixture.ts";
import { contextsOf } from "../../security-contexts/fixture.ts";

const id = "0190f3c4-0000-7000-8000-000000000001";
const attachment = { volume_id: "v", path: "/a", name: "a", mime_type: "text/plain", size: 1 };

async function gather(request: Partial<StartRequest>, spec: Partial<AgentSpec> = {}) {
  const asked: unknown[] = [];
  const found: ResolvedAgent = {
    agent_id: id,
    name: "greeter",
    version: "1.0.0",
    revision: 2,
    tenant: "acme",
    deployed: { realm: "test", user_id: "ann", at: "2031-01-01T00:00:00.000Z" },
    spec: { ...specOf(manifest()), ...spec },
  };
  const options: StartFactsOptions = {
    agents: {
      resolveForExecution: async (wanted) => {
        asked.push(wanted);
        if ("agentName" in wanted && wanted.agentName === "absent") throw new Problem("agent_not_found", "Not here");
        return found;
      },
    },
    references: { unusable: async () => null },
    contexts: contextsOf(null),
    tools: { of: async () => ({ listed: [], entries: builtinTools, find: () => undefined }) },
    volumes: { checkFiles: async () => [attachment], readable: async () => new Map() },
    terms: async (tenant) => usualTerms(tenant),
    offer: { ...offer, enforcesNetwork: () => true },
    bounds: sampleHeader().bounds,
  };
  const origin = { trigger: "api", parent: null, workflow: null, initiatingUserSub: null, exempt: false } as const;
  const start = { agentName: "greeter", tenant: "acme", origin, starter: null, input: "", ...request } as StartRequest;
  return { asked, facts: await gatherStartFacts(options, id, start, null) };
}

test("an agent is looked for by name where it is named so", async () => {
  expect((await gather({})).asked).toEqual([{ tenant: "acme", agentName: "greeter" }]);
});

test("an input that cannot be stored is a fact, not a failure", async () => {
  expect((await gather({ input: "\0" })).facts.input).toMatchObject({ code: "input_validation_failed" });
});

test("a judge that cannot run is a fact; an agent that cannot run is refused", async () => {
  const { execution } = specOf(manifest());
  const judge = {
    type: "semantic",
    judge_agent: "absent",
    criteria: "",
    timeout_ms: 1,
    min_score: 0,
    min_confidence: 0,
  } as const;
  const { facts } = await gather({}, { execution: { ...execution, tool_judges: [judge] } });
  expect(facts.unusableAgents).toMatchObject([{ path: "execution.tool_validation", code: "judge_not_found" }]);
  await expect(gather({ agentName: "absent" })).rejects.toMatchObject({ code: "agent_not_found" });
});

test("files are folded into the input of agents that declare them, not of others", async () => {
  const { tools } = specOf(manifestWith("spec.tools", ["svc.attachment.read"]));
  const input_schema = { type: "object", properties: { attachments: {} } };
  const request = { input: { a: 1 }, attachments: [{}] };
  const folded = await gather(request, { tools, input_schema });
  expect(folded.facts.input).toEqual({ value: { a: 1, attachments: [attachment] } });
  expect((await gather(request)).facts).toMatchObject({ attachments: [], input: { value: { a: 1 } } });
});
