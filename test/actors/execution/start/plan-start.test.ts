/** The decision on a start: what settles its plan, what refuses it, and that no override passes a ban of the node. */
import { describe, expect, test } from "bun:test";
import type { StartOrigin, StartRequest } from "../../../../actors/execution/start/request.ts";
import { needsNoInstance } from "../../../../actors/execution/start/settle.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { invalidAt, Problem } from "../../../../actors/kernel/problem.ts";
import { manifest, manifestWith, specOf } from "../../agent/offer.ts";
import { api, type Change, codeOf, decide, id, laid, mount, volume } from "./fixture.ts";

const attachment = { volume_id: "v", path: "/a", name: "a", mime_type: "text/plain", size: 1 };

const declaring: Json = { type: "object", properties: { attachments: {} } };

function planned(change: Change) {
  const decision = decide(change);
  if (decision instanceof Problem) throw decision;
  return decision;
}

describe("the origin of a start", () => {
  const parent = { executionId: "p", depth: 1, path: ["r"], swarmId: null };
  const under = (origin: Partial<StartOrigin>, request: Partial<StartRequest> = {}, swarm = false) =>
    planned({ request: { origin: { ...api, ...origin }, ...request }, spec: { swarm } }).header;

  test("is shown by the header", () => {
    expect(under({ trigger: "schedule", workflow: { name: "w", executionId: "we" } })).toMatchObject({
      trigger: "schedule",
      workflow_name: "w",
      workflow_execution_id: "we",
      initiating_user_sub: "ann",
      agent_revision: 2,
      hierarchy: { parent_execution_id: null, depth: 0, path: [], swarm_id: null },
    });
  });

  test("a child stands one below its parent, at most three below the root", () => {
    const { hierarchy } = under({ trigger: "validator", parent });
    expect(hierarchy).toEqual({ parent_execution_id: "p", depth: 2, path: ["r", "p"], swarm_id: null });
    const deep = { request: { origin: { ...api, parent: { ...parent, depth: 3 } } } };
    expect(codeOf(deep)).toBe("depth_exceeded");
  });

  test("a swarm is named after its founding execution; children join it", () => {
    expect(under({}, {}, true).hierarchy.swarm_id).toBe(id);
    expect(under({ parent: { ...parent, swarmId: "s" } }, {}, true).hierarchy.swarm_id).toBe("s");
  });

  test("a retry asks for the same, and gets no more than the manifest grants", () => {
    const execution = { ...specOf(manifest()).execution, max_iterations: 3, max_tokens: 500 };
    const resources = { ...specOf(manifest()).resources, timeout_ms: 60_000 };
    const retry = (request: Partial<StartRequest>) =>
      planned({ spec: { execution, resources }, request: { retryOf: "e1", ...request } }).header;
    expect(retry({ timeoutSeconds: 30, maxIterations: 2, maxTokens: 100 })).toMatchObject({
      retry_of: "e1",
      timeout_ms: 30_000,
      max_iterations: 2,
      max_tokens: 100,
    });
    const granted = { timeout_ms: 60_000, max_iterations: 3, max_tokens: 500 };
    expect(retry({ timeoutSeconds: 600, maxIterations: 9, maxTokens: 900 })).toMatchObject(granted);
    expect(retry({})).toMatchObject(granted);
  });

  test("a parent's time bounds a child; callers may not exceed the manifest's grants", () => {
    expect(under({ parent }, { timeoutSeconds: 10 }).timeout_ms).toBe(10_000);
    expect(under({ parent }, { timeoutSeconds: 1_000_000 }).timeout_ms).toBe(1_800_000);
    expect(codeOf({ request: { timeoutSeconds: 1_000_000 } })).toBe("validation_failed");
    expect(codeOf({ request: { maxIterations: 20 } })).toBe("validation_failed");
    expect(planned({ request: { maxTokens: 7 } }).header.max_tokens).toBe(7);
  });
});

describe("isolation", () => {
  test("the run's before the agent's; without one the agent's own", () => {
    expect(planned(laid({ isolation: "docker" })).header.runtime.isolation).toBe("docker");
    expect(planned(laid({})).header.runtime.isolation).toBe("process");
  });

  test.each(["firecracker", "moon"])("%s is refused where it is not offered", (isolation) => {
    expect(codeOf(laid({ isolation }))).toBe("runtime_unavailable");
  });
});

test("the temperature, zero too, and the agent's own without one", () => {
  const runtime = { ...specOf(manifest()).runtime, temperature: 0.9 };
  expect(planned(laid({ temperature: 0 }, { runtime })).plan.model.temperature).toBe(0);
  expect(planned(laid({}, { runtime })).plan.model.temperature).toBe(0.9);
});

describe("volumes", () => {
  test.each([
    ["the workspace in place of the agent's own", ["/workspace"], ["/workspace", "/workspace/a"], ["/workspace/a"]],
    ["beside others", ["/workspace", "/workspace/b"], ["/workspace/a"], ["/workspace/a"]],
    ["in place of what is at the same path", ["/workspace/a"], ["/workspace", "/workspace/a"], ["/workspace"]],
    ["in place of what is below", ["/workspace/a"], ["/workspace/a/b", "/workspace/ab"], ["/workspace/ab"]],
    ["in place of what is above", ["/workspace/a/b"], ["/workspace/a"], []],
    ["none", [], ["/workspace", "/workspace/a"], ["/workspace", "/workspace/a"]],
  ])("%s", (_, run, own, left) => {
    const { volumes } = planned(laid({ mounts: run.map(mount) }, { volumes: own.map(volume) }));
    if (volumes.kind !== "own") throw new Error(`volumes are ${volumes.kind}`);
    expect(volumes.declared.map(({ mount_path }) => mount_path)).toEqual(left);
    expect(volumes.ofRun.map(({ mount_path }) => mount_path)).toEqual(run);
  });

  test("no instance that was kept ready is used with them", () => {
    const warm = { warm_pool_size: 3 };
    expect(planned(laid({ mounts: [mount("/workspace")] }, warm)).plan.warm_pool_size).toBe(0);
    expect(planned(laid({}, warm)).plan.warm_pool_size).toBe(3);
  });

  test("a judge sees what it judges, and has a workspace of its own where that has none", () => {
    const metadata = { ...specOf(manifest()).metadata, agent_type: "judge" };
    const seen = (path: string) => planned({ spec: { metadata }, request: { judgedMounts: [mount(path)] } }).volumes;
    expect(seen("/workspace/a")).toMatchObject({
      kind: "judged",
      mounts: [
        { mount_path: "/workspace", volume_id: id, access_mode: "read-write" },
        { mount_path: "/workspace/a", access_mode: "read-only" },
      ],
    });
    expect(seen("/workspace")).toMatchObject({ mounts: [{ access_mode: "read-only" }] });
  });

  test("a source must be readable, a limit must fit the plan; all findings are listed", () => {
    const big = { ...volume("/workspace/big"), size_limit_bytes: 2 ** 50 };
    const named = { ...volume("/workspace/a"), source_volume_id: "AB" };
    const problem = decide({ spec: { volumes: [named, big] } });
    expect(problem).toMatchObject({
      code: "invalid_volume",
      extras: {
        issues: [
          { path: "volumes.0.source.volume_id", code: "volume_not_found" },
          { path: "volumes.1.size_limit", code: "quota_exceeded" },
        ],
      },
    });
    const sources = new Map([["ab", { volume_id: "ab", size_limit_bytes: 1 }]]);
    expect(codeOf({ spec: { volumes: [named] }, facts: { sources } })).toBeNull();
  });
});

describe("security context", () => {
  test("for an agent that names none; the caller's permission was checked at the start", () => {
    const pro = { security_context: "svc-consumer-pro" };
    expect(planned(laid(pro)).header.security_context).toBe("svc-consumer-pro");
    expect(planned(laid(pro, { security_context: "svc-agent-runtime" })).header.security_context).toBe(
      "svc-agent-runtime",
    );
    expect(planned(laid({})).header.security_context).toBe("svc-agent-runtime");
    // A context that the request asks for is checked for its caller.
    expect(codeOf({ request: { securityContext: "svc-consumer-pro" } })).toBe("security_context_forbidden");
  });

  test("opens the tools of each start, among starts of one manifest under others", () => {
    const { tools } = specOf(manifestWith("spec.tools", ["cmd.run", "svc.attachment.read"]));
    const toolsIn = (security_context: string) =>
      planned(laid({ security_context }, { tools })).plan.tools.map(({ name }) => name);
    for (let start = 0; start < 2; start++) {
      expect(toolsIn("svc-agent-runtime")).toEqual(["cmd.run", "svc.attachment.read"]);
      expect(toolsIn("svc-consumer-pro")).toEqual(["svc.attachment.read"]);
    }
  });

  test("one that does not exist is refused", () => {
    expect(codeOf(laid({ security_context: "nobody" }))).toBe("unknown_security_context");
  });
});

describe("attachments of a run", () => {
  const reads = specOf(manifestWith("spec.tools", ["svc.attachment.read"])).tools;

  test("go to an agent that declares them", () => {
    const { plan } = planned(laid({ attachments: [attachment] }, { input_schema: declaring, tools: reads }));
    expect(plan.attachments).toEqual([attachment]);
  });

  test.each([
    ["no property", { type: "object" } as Json, reads],
    ["no tool to read them", declaring, []],
    ["no schema", null, reads],
  ])("not to others: %s", (_, input_schema, tools) => {
    expect(planned(laid({ attachments: [attachment] }, { input_schema, tools })).plan.attachments).toEqual([]);
  });
});

test("the first failed check answers, in the order that callers rely on", () => {
  const failures: readonly [code: string, change: Change][] = [
    ["unknown_security_context", { spec: { security_context: "nobody" } }],
    ["attachments_not_declared", { request: { attachments: [{}] } }],
    ["input_validation_failed", { facts: { input: invalidAt("input_validation_failed", "input", "is bad") } }],
    ["reserved_override_key", { request: { contextOverrides: { input: 1 } } }],
    ["validation_failed", { request: { maxIterations: 20 } }],
    ["template_error", { spec: { task: { ...specOf(manifest()).task, prompt_template: "{{#if a}}" } } }],
    ["unknown_tool", { spec: { tools: [{ name: "mail.send", skip_judge: false }] } }],
    ["unknown_model_alias", { offer: { servesModel: () => false } }],
    ["judge_not_found", { facts: { unusableAgents: [{ path: "p", message: "m", code: "judge_not_found" }] } }],
    ["runtime_unavailable", { offer: { isolations: [] } }],
    ["bootstrap_path_forbidden", { spec: { bootstrap_path: "/opt/agent" } }],
    [
      "depth_exceeded",
      { request: { origin: { ...api, parent: { executionId: "p", depth: 3, path: [], swarmId: null } } } },
    ],
    ["invalid_volume", { spec: { volumes: [{ ...volume("/workspace"), size_limit_bytes: 2 ** 50 }] } }],
  ];
  for (const [index, [code]] of failures.entries()) {
    const later = failures.slice(index).map(([, change]) => change);
    const all = later.reduce<Change>(
      (before, next) => ({
        spec: { ...before.spec, ...next.spec },
        request: { ...before.request, ...next.request },
        offer: { ...before.offer, ...next.offer },
        facts: { ...before.facts, ...next.facts },
      }),
      {},
    );
    expect(codeOf(all)).toBe(code);
  }
});

test("a prompt's path that does not exist is a warning; earlier attempts come later", () => {
  const warned = (prompt_template: string) =>
    planned({
      spec: { task: { ...specOf(manifest()).task, prompt_template } },
      request: { input: { name: "Ada" }, contextOverrides: { hub: 1 } },
    }).header.warnings.filter(({ code }) => code === "template_path_missing");
  expect(warned("{{input.nmae}} {{input.name}} {{hub}} {{gone}}")).toMatchObject([
    { message: "The prompt's template prints what does not exist; it is empty: input.nmae, gone" },
  ]);
  expect(warned("{{input.name}}{{default input.b 1}}{{previous_attempts.0.reason}}{{previous_error}}")).toEqual([]);
});

test("so is one of the output handler's template, which knows the output", () => {
  const handler = { type: "webhook", url: "https://example.com", body_template: "" };
  const warned = (body_template: string) =>
    planned({
      spec: specOf(manifestWith("spec.output_handler", { ...handler, body_template })),
      request: { input: { name: "Ada" } },
    }).header.warnings.filter(({ code }) => code === "template_path_missing");
  expect(warned("{{outptu}} {{output}} {{input.nmae}}")).toMatchObject([
    { message: "The output handler's template prints what does not exist; it is empty: outptu, input.nmae" },
  ]);
  expect(warned("{{output}} {{input.name}} {{execution_id}} {{iteration_number}} {{agent_name}}")).toEqual([]);
});

describe("an instance of its own has", () => {
  const spec = {
    runtime: { language: "python", isolation: "inherit" },
    context: [{ type: "text" }, { type: "url" }],
    volumes: [],
    startup_script: null,
    bootstrap_path: null,
    warm_pool_size: 0,
  };
  const plan = { tools: [], attachments: [] };
  const request = { origin: { trigger: "stimulus", parent: null } };
  const isInline = (more: { spec?: object; plan?: object; request?: object }): boolean =>
    // Only what decides is there.
    needsNoInstance(
      { ...spec, ...more.spec } as never,
      { ...plan, ...more.plan } as never,
      { ...request, ...more.request } as never,
    );

  test.each<[string, Parameters<typeof isInline>[0]]>([
    ["an agent that is to be kept in a container", { spec: { runtime: { language: "python", isolation: "docker" } } }],
    ["one that names an image", { spec: { runtime: { language: null, isolation: "inherit" } } }],
    ["one that reads files", { spec: { context: [{ type: "file" }] } }],
    ["one with volumes", { spec: { volumes: [{}] } }],
    ["one with a startup script", { spec: { startup_script: "true" } }],
    ["one with a program of its own", { spec: { bootstrap_path: "/opt/agent" } }],
    ["one that is kept ready", { spec: { warm_pool_size: 1 } }],
    ["one that is given files", { plan: { attachments: [{}] } }],
    ["one that a workflow changes", { request: { overrides: {} } }],
    ["a child", { request: { origin: { trigger: "stimulus", parent: {} } } }],
  ])("%s", (_, more) => {
    expect(isInline(more)).toBe(false);
  });

  test("and no other", () => {
    expect(isInline({})).toBe(true);
    expect(isInline({ spec: { runtime: { language: "python", isolation: "process" } } })).toBe(true);
  });
});
