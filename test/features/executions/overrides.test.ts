/** What a workflow's run lays over an agent's manifest, and what stays the agent's own. */
import { describe, expect, test } from "bun:test";
import type { AgentSpec, VolumeSpec } from "../../../actors/agent/manifest/spec.ts";
import type { AgentRuntimeOverrides } from "../../../actors/execution/child.ts";
import type { MountPlan } from "../../../actors/execution/start/plan.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { StartRequest } from "../../../src/features/executions/start/request.ts";
import { prepareStart, type StartOptions } from "../../../src/features/executions/start/start.ts";
import { manifest, manifestWith, specOf } from "../../actors/agent/offer.ts";
import { sampleHeader } from "../../actors/execution/sample.ts";

const id = "0190f3c4-0000-7000-8000-000000000001";
const none: AgentRuntimeOverrides = {
  isolation: null,
  temperature: null,
  mounts: [],
  security_context: null,
  attachments: [],
};
const volume = (mount_path: string): VolumeSpec => ({
  name: `own-${mount_path.length}`,
  mount_path,
  storage_class: "ephemeral",
  access_mode: "read-write",
  size_limit_bytes: 1,
  ttl_ms: 1,
  source_volume_id: null,
});
const mount = (mount_path: string): MountPlan => {
  const { source_volume_id: _, ...facts } = volume(mount_path);
  return { ...facts, name: "run", volume_id: `run${mount_path}` };
};
const attachment = { volume_id: "v", path: "/a", name: "a", mime_type: "text/plain", size: 1 };
const declaring: Json = { type: "object", properties: { attachments: {} } };

/** Settled by what: the declared volumes that were asked for, and those of the run. */
interface Settled {
  readonly declared: readonly string[];
  readonly given: readonly string[];
}

async function start(
  overrides: AgentRuntimeOverrides | undefined,
  change: Partial<AgentSpec> = {},
  more: Partial<StartRequest> = {},
) {
  const spec: AgentSpec = { ...specOf(manifest()), ...change };
  let settled: Settled | null = null;
  const options: StartOptions = {
    agents: {
      resolveForExecution: async () => ({ agent_id: id, name: "greeter", version: "1.0.0", revision: 1, spec }),
    },
    servesModel: () => true,
    isolations: ["process", "docker"],
    defaultIsolation: "process",
    enforcesNetwork: () => true,
    openEgress: true,
    volumes: {
      settle: async (_tenant, _agent, _execution, _reader, declared, _attachments, given = []) => {
        settled = { declared: declared.map((one) => one.mount_path), given: given.map((one) => one.mount_path) };
        return [...given];
      },
      checkAttachments: async () => [],
    },
    bounds: sampleHeader().bounds,
  };
  const request = {
    agentId: id,
    tenant: "acme",
    origin: { trigger: "workflow", parent: null, workflow: null, initiatingUserSub: null, exempt: false },
    starter: null,
    input: {},
    ...(overrides === undefined ? {} : { overrides }),
    ...more,
  } as StartRequest;
  const prepared = await prepareStart(options, id, request, async () => {});
  return { ...prepared, settled: settled as Settled | null };
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { code: string }) => error.code,
  );

describe("isolation", () => {
  test("the run's before the agent's; without one the agent's own", async () => {
    expect((await start({ ...none, isolation: "docker" })).header.runtime.isolation).toBe("docker");
    expect((await start(none)).header.runtime.isolation).toBe("process");
  });

  test.each(["firecracker", "moon"])("%s is refused where it is not offered", async (isolation) => {
    expect(await codeOf(start({ ...none, isolation }))).toBe("runtime_unavailable");
  });
});

test("the temperature, zero too, and the agent's own without one", async () => {
  const runtime = { ...specOf(manifest()).runtime, temperature: 0.9 };
  expect((await start({ ...none, temperature: 0 }, { runtime })).plan.model.temperature).toBe(0);
  expect((await start(none, { runtime })).plan.model.temperature).toBe(0.9);
});

describe("volumes", () => {
  test.each([
    ["the workspace in place of the agent's own", ["/workspace"], ["/workspace", "/workspace/a"], ["/workspace/a"]],
    ["beside others", ["/workspace", "/workspace/b"], ["/workspace/a"], ["/workspace/a"]],
    ["in place of what is at the same path", ["/workspace/a"], ["/workspace", "/workspace/a"], ["/workspace"]],
    ["in place of what is below", ["/workspace/a"], ["/workspace/a/b", "/workspace/ab"], ["/workspace/ab"]],
    ["in place of what is above", ["/workspace/a/b"], ["/workspace/a"], []],
    ["none", [], ["/workspace", "/workspace/a"], ["/workspace", "/workspace/a"]],
  ])("%s", async (_, run, own, left) => {
    const { settled } = await start({ ...none, mounts: run.map(mount) }, { volumes: own.map(volume) });
    expect(settled).toEqual({ declared: left, given: run });
  });

  test("no instance that was kept ready is used with them", async () => {
    const warm = { warm_pool_size: 3 };
    expect((await start({ ...none, mounts: [mount("/workspace")] }, warm)).plan.warm_pool_size).toBe(0);
    expect((await start(none, warm)).plan.warm_pool_size).toBe(3);
  });

  test("a judge sees what it judges, and has a workspace of its own where that has none", async () => {
    const judge = { metadata: { ...specOf(manifest()).metadata, agent_type: "judge" as const } };
    const seen = await start(none, judge, { judgedMounts: [mount("/workspace/a")] });
    expect(seen.plan.mounts).toMatchObject([
      { mount_path: "/workspace", volume_id: id, access_mode: "read-write" },
      { mount_path: "/workspace/a", access_mode: "read-only" },
    ]);
    const whole = await start(none, judge, { judgedMounts: [mount("/workspace")] });
    expect(whole.plan.mounts.map(({ access_mode }) => access_mode)).toEqual(["read-only"]);
  });
});

describe("security context", () => {
  test("for an agent that names none; the caller's permission was checked at the start", async () => {
    const laid = { ...none, security_context: "svc-consumer-pro" };
    expect((await start(laid)).header.security_context).toBe("svc-consumer-pro");
    expect((await start(laid, { security_context: "svc-agent-runtime" })).header.security_context).toBe(
      "svc-agent-runtime",
    );
    expect((await start(none)).header.security_context).toBe("svc-agent-runtime");
    // A request alone is judged as ever.
    expect(await codeOf(start(undefined, {}, { securityContext: "svc-consumer-pro" }))).toBe(
      "security_context_forbidden",
    );
  });

  test("one that does not exist is refused", async () => {
    expect(await codeOf(start({ ...none, security_context: "nobody" }))).toBe("unknown_security_context");
  });
});

describe("attachments", () => {
  const laid = { ...none, attachments: [attachment] };
  const reads = specOf(manifestWith("spec.tools", ["svc.attachment.read"])).tools;

  test("go to an agent that declares them", async () => {
    const { plan } = await start(laid, { input_schema: declaring, tools: reads });
    expect(plan.attachments).toEqual([attachment]);
    expect(plan.input).toEqual({ attachments: [attachment] });
  });

  test.each([
    ["no property", { type: "object" } as Json, reads],
    ["no tool to read them", declaring, []],
    ["no schema", null, reads],
  ])("not to others: %s", async (_, input_schema, tools) => {
    const { plan } = await start(laid, { input_schema, tools });
    expect(plan.attachments).toEqual([]);
    expect(plan.input).toEqual({});
  });
});
