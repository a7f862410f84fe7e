/** Who starts an execution decides its place among others; the node decides whether its policy can be held. */
import { describe, expect, test } from "bun:test";
import type { AgentSpec } from "../../../actors/agent/manifest/spec.ts";
import type { ResolvedAgent } from "../../../src/features/agents/service.ts";
import type { StartOrigin, StartRequest } from "../../../src/features/executions/start/request.ts";
import { prepareStart, type StartOptions } from "../../../src/features/executions/start/start.ts";
import { manifest, manifestWith, specOf } from "../../actors/agent/offer.ts";
import { sampleHeader } from "../../actors/execution/sample.ts";

const id = "0190f3c4-0000-7000-8000-000000000001";
const plainOrigin: StartOrigin = {
  trigger: "api",
  parent: null,
  workflow: null,
  initiatingUserSub: "ann",
  exempt: false,
};

interface Facts {
  readonly spec?: AgentSpec;
  readonly enforcesNetwork?: boolean;
}

function options(asked: unknown[], { spec = specOf(manifest()), enforcesNetwork = true }: Facts = {}): StartOptions {
  const agent: ResolvedAgent = { agent_id: id, name: "greeter", version: "1.0.0", revision: 2, spec };
  return {
    agents: {
      resolveForExecution: async (request) => {
        asked.push(request);
        return agent;
      },
    },
    servesModel: () => true,
    isolations: ["process"],
    defaultIsolation: "process",
    enforcesNetwork: () => enforcesNetwork,
    openEgress: true,
    volumes: { settle: async () => [], checkAttachments: async () => [] },
    bounds: sampleHeader().bounds,
  };
}

async function headerOf(origin: Partial<StartOrigin>, more: Partial<StartRequest> = {}, swarm = false) {
  const spec = specOf(manifestWith("spec.advanced", { swarm_enabled: swarm }));
  const request = {
    agentId: id,
    tenant: "acme",
    origin: { ...plainOrigin, ...origin },
    starter: null,
    input: "",
    ...more,
  };
  const { header } = await prepareStart(options([], { spec }), id, request as StartRequest, async () => {});
  return header;
}

describe("the origin of a start", () => {
  const parent = { executionId: "p", depth: 1, path: ["r"], swarmId: null };

  test("is told by the header", async () => {
    expect(await headerOf({ trigger: "schedule", workflow: { name: "w", executionId: "we" } })).toMatchObject({
      trigger: "schedule",
      workflow_name: "w",
      workflow_execution_id: "we",
      initiating_user_sub: "ann",
      agent_revision: 2,
      hierarchy: { parent_execution_id: null, depth: 0, path: [], swarm_id: null },
    });
  });

  test("a child stands one below its parent, at most three below the root", async () => {
    const { hierarchy } = await headerOf({ trigger: "validator", parent });
    expect(hierarchy).toEqual({ parent_execution_id: "p", depth: 2, path: ["r", "p"], swarm_id: null });
    await expect(headerOf({ parent: { ...parent, depth: 3 } })).rejects.toMatchObject({ code: "depth_exceeded" });
  });

  test("a swarm is named after its founding execution; children join it", async () => {
    expect((await headerOf({}, {}, true)).hierarchy.swarm_id).toBe(id);
    expect((await headerOf({ parent: { ...parent, swarmId: "s" } }, {}, true)).hierarchy.swarm_id).toBe("s");
  });

  test("a parent's time bounds a child; callers may not exceed the manifest's grants", async () => {
    expect((await headerOf({ parent }, { timeoutSeconds: 10 })).timeout_ms).toBe(10_000);
    expect((await headerOf({ parent }, { timeoutSeconds: 1_000_000 })).timeout_ms).toBe(1_800_000);
    await expect(headerOf({}, { timeoutSeconds: 1_000_000 })).rejects.toMatchObject({ code: "validation_failed" });
  });
});

test("an agent is looked for by name where it is named so; it is admitted last", async () => {
  const asked: unknown[] = [];
  const request = { agentName: "greeter", tenant: "acme", origin: plainOrigin, starter: null, input: "" };
  let admitted = 0;
  const admit = async () => {
    admitted += 1;
  };
  await prepareStart(options(asked), id, request, admit);
  await expect(prepareStart(options(asked), id, { ...request, input: "\0" }, admit)).rejects.toMatchObject({
    code: "input_validation_failed",
  });
  expect(asked[0]).toEqual({ tenant: "acme", agentName: "greeter" });
  expect(admitted).toBe(1);
});

test.each([
  ["none", false, null],
  ["none", true, null],
  ["deny", false, "runtime_unavailable"],
  ["deny", true, null],
  ["allow", false, "runtime_unavailable"],
])("network mode %s where a policy %p can be enforced: %p", async (mode, enforcesNetwork, code) => {
  const request = { agentId: id, tenant: "acme", origin: plainOrigin, starter: null, input: "" };
  const spec = specOf(manifestWith("spec.security", { network: { mode, allowlist: ["api.example"] } }));
  const refused = await prepareStart(options([], { spec, enforcesNetwork }), id, request, async () => {}).then(
    () => null,
    (error: { code: string }) => error.code,
  );
  expect(refused).toBe(code);
});
