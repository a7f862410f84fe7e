/** What agents of the service write: manifests and programs (docs/decisions/agents-of-the-service.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, manifest, say } from "../../harness/manifests.ts";
import { startVendor, type VendorRequest } from "../../harness/outside/vendor.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

const vendor = await startVendor();
let at: ExecutionFixture;
beforeAll(async () => {
  const SVC_CONFIG_FILE = join(scratch("service-agents"), "config.yaml");
  const models = (alias: string) => [{ alias, model: alias }];
  const document = {
    llm_selection: { max_retries: 0 },
    llm_providers: [
      { name: "script", type: "scripted", models: models("default") },
      {
        name: "vendor",
        type: "anthropic",
        endpoint: vendor.endpoint("anthropic"),
        api_key: "k",
        models: models("smart"),
      },
    ],
  };
  await Bun.write(SVC_CONFIG_FILE, JSON.stringify(document));
  at = await ExecutionFixture.open({ SVC_CONFIG_FILE });
});
afterAll(async () => {
  await at.close();
  await vendor.close();
});
beforeEach(() => vendor.reset());

interface Step {
  readonly status: string;
  readonly result: LooseJson;
}

/** An agent whose model makes one call after the other. @returns its id, and what the calls came to */
async function runs(...rounds: readonly (readonly [string, Record<string, unknown>])[]) {
  const script = [...rounds.map((one) => calls(one)), say("done")];
  const record = await at.run({ tools: ["*"], script, spec: { security_context: "svc-system-operator" } });
  const steps: Step[] = record.iterations[0].trajectory.map(({ status, result_json }: Record<string, string>) => ({
    status,
    result: JSON.parse(result_json ?? "null"),
  }));
  return { record, steps };
}

const reply = (text: string) => ({ reply: { text } });
/** Without the task itself, which names every code and tool that there is. */
const promptOf = ({ body }: VendorRequest): string =>
  JSON.stringify(body.messages).split("Aliases of models").at(-1) ?? "";
const written = (name: string, more = {}) =>
  JSON.stringify({ ...manifest({ name, tools: [], script: [say("x")] }), ...more });

test("an unusable manifest is mended, then deployed under the caller's ceilings", async () => {
  const name = `counter-${process.pid}`;
  const wrong = JSON.parse(written(name));
  wrong.spec.tools = ["count.words"];
  vendor.push(reply("no manifest"), reply(JSON.stringify(wrong)), reply(`\`\`\`json\n${written(name)}\n\`\`\``));
  const { record, steps } = await runs(["aegis.agent.generate", { input: "count the words of a text" }]);
  const [made] = steps;
  expect(made).toMatchObject({ status: "succeeded", result: { tool: "svc.agent.generate", deployed: true, name } });
  expect(vendor.requests.map(promptOf)).toEqual([
    expect.stringContaining("count the words of a text"),
    expect.stringContaining("must be an object"),
    expect.stringContaining("unknown_tool"),
  ]);
  const found = (await at.node.call("GET", `/v1/agents/lookup/${name}`)).body;
  expect(found).toMatchObject({ agent_id: made?.result.agent_id, manifest_yaml: made?.result.manifest_yaml });
  expect((await at.start(found.agent_id, { wait_seconds: 30 })).body).toMatchObject({
    status: "completed",
    output: "x",
  });
  const children = (await at.node.call("GET", `/v1/executions?parent_execution_id=${record.id}`)).body.items;
  expect(children.map(({ id }: LooseJson) => id).sort()).toEqual([...(made?.result.execution_ids ?? [])].sort());
  const started = (await at.start(found.agent_id)).body.execution_id;
  expect((await at.ended(started)).context_ceilings).toEqual(["svc-system-operator"]);
}, 60_000);

test("the third manifest that cannot be used is the last; a name that is taken is none", async () => {
  const name = await at.record((await at.run({ tools: [], script: [say("x")] })).id).then((one) => one.agent_name);
  vendor.always(reply(written(name)));
  const { steps } = await runs(["svc.agent.generate", { input: { purpose: "the same again" } }]);
  expect(steps[0]).toMatchObject({
    status: "failed",
    result: {
      code: "generation_failed",
      details: { issues: [{ path: "metadata.name", code: "agent_name_conflict" }] },
    },
  });
  expect(vendor.requests).toHaveLength(3);
}, 60_000);

test("deploy=false shows a manifest and stores nothing; a model that fails is told of", async () => {
  const name = `shown-${process.pid}`;
  vendor.push(reply(written(name)), { status: 401, message: "no" });
  const { steps } = await runs(
    ["svc.agent.generate", { input: "x", deploy: false }],
    ["svc.agent.generate", { input: "x" }],
    ["svc.agent.generate", { input: "" }],
  );
  expect(steps[0]).toMatchObject({ status: "succeeded", result: { deployed: false, name, version: "1.0.0" } });
  expect(steps[0]?.result.manifest_yaml).toContain(name);
  expect((await at.node.call("GET", `/v1/agents/lookup/${name}`)).status).toBe(404);
  expect(steps[1]).toMatchObject({ result: { code: "generation_failed", details: { status: "failed" } } });
  expect(steps[2]).toMatchObject({ result: { code: "invalid_arguments" } });
}, 60_000);

test("a kill while a manifest is written: it is written on, and deployed once", async () => {
  const name = `survivor-${process.pid}`;
  vendor.push({ stall: "before" });
  vendor.always(reply(written(name)));
  const script = [calls(["svc.agent.generate", { input: "survive" }]), say("done")];
  const id = await at.launch({ tools: ["*"], script, spec: { security_context: "svc-system-operator" } });
  await until(() => vendor.requests.length === 1, { timeoutMs: 60_000, what: "the writer's model to be asked" });
  await at.node.kill();
  await at.node.restart();
  const [step] = (await at.ended(id)).iterations[0].trajectory;
  const result = JSON.parse(step.result_json);
  expect([step.status, result.deployed, result.name]).toEqual(["succeeded", true, name]);
  const children = (await at.node.call("GET", `/v1/executions?parent_execution_id=${id}`)).body.items;
  expect(children.map((one: LooseJson) => one.id)).toEqual(result.execution_ids);
  const versions = (await at.node.call("GET", `/v1/agents/${result.agent_id}/versions?revisions=true`)).body;
  expect(versions.count).toBe(1);
}, 120_000);

const pipeline = (id: string) => at.node.call("GET", `/v1/workflows/executions/${id}`);
const double = (language: string) =>
  ({
    python: 'import json, os\nprint(json.loads(os.environ["INTENT_INPUTS"])["n"] * 2)',
    javascript: "console.log(JSON.parse(process.env.INTENT_INPUTS).n * 2)",
    bash: `n=$(printf %s "$INTENT_INPUTS" | tr -dc 0-9)\necho $((n * 2))`,
  })[language] ?? "";

test.each(["python", "javascript", "bash"])(
  "an intent becomes a program in %s, which runs in a sandbox",
  async (language) => {
    vendor.push(reply(`\`\`\`\n${double(language)}\n\`\`\``));
    const intent = `double "n" '$(touch /workspace/x)'`;
    const { steps } = await runs(["svc.execute.intent", { intent, inputs: { n: 21 }, language, timeout_seconds: 30 }]);
    const { pipeline_execution_id: id, stream_url } = steps[0]?.result ?? {};
    expect(steps[0]).toMatchObject({ status: "succeeded", result: { status: "running", language } });
    const told = await runs(
      ["svc.execute.wait", { execution_id: id, timeout_seconds: 60 }],
      ["aegis.execute.status", { pipeline_execution_id: id }],
    );
    const [waited, status] = told.steps.map(({ result }) => result);
    expect(waited).toMatchObject({ status: "completed", last_output: { exit_code: 0, stdout: "42\n", stderr: "" } });
    expect(status).toMatchObject({
      status: "completed",
      stage: null,
      attempts: 1,
      program: double(language),
      result: { exit_code: 0, stdout: "42\n" },
      final_output: waited.last_output,
      stream_url,
    });
    expect(promptOf(vendor.requests[0] as VendorRequest)).toContain("touch /workspace/x");
    const bearer = { Authorization: `Bearer ${await at.node.token()}` };
    const stream = await fetch(new URL(new URL(stream_url).pathname, at.node.url), { headers: bearer });
    expect(await stream.text()).toContain("WorkflowExecutionCompleted");
  },
  90_000,
);

test("a program that fails goes back to its writer twice; it has no network", async () => {
  const failing = 'import sys, urllib.request\nprint("so far")\nurllib.request.urlopen("http://127.0.0.1:1")';
  vendor.push(reply(failing), reply("import sys\nsys.exit(3)"), reply("raise SystemExit(4)"));
  const { steps } = await runs(["svc.execute.intent", { intent: "reach out" }]);
  const id = steps[0]?.result.pipeline_execution_id;
  await until(async () => (await pipeline(id)).body.status === "failed", { timeoutMs: 60_000, what: "the failure" });
  const { steps: told } = await runs(["svc.execute.status", { pipeline_execution_id: id }]);
  expect(told[0]?.result).toMatchObject({
    status: "failed",
    attempts: 3,
    result: { exit_code: 4 },
    final_output: null,
  });
  expect(vendor.requests.map(promptOf).slice(1)).toEqual([
    expect.stringMatching(/Its exit code was 1.*URLError.*so far/s),
    expect.stringContaining("Its exit code was 3"),
  ]);
}, 90_000);

test("agents of the service are seen in what they did, and nowhere else", async () => {
  vendor.always(reply("print(1)"));
  const { steps } = await runs(["svc.execute.intent", { intent: "print one" }]);
  const id = steps[0]?.result.pipeline_execution_id;
  await until(async () => (await pipeline(id)).body.status === "completed", { timeoutMs: 60_000, what: "its end" });
  const { workflow_id } = (await pipeline(id)).body;
  const [child] = (await at.node.call("GET", `/v1/executions?workflow_execution_id=${id}`)).body.items;
  expect(child).toMatchObject({
    agent_name: "svc.program-writer",
    workflow_name: "svc.execute.intent",
    status: "completed",
  });
  expect(child.usage.llm_calls).toBe(1);
  const hidden: [string, string, unknown?][] = [
    ["GET", `/v1/agents/${child.agent_id}`],
    ["GET", `/v1/agents/lookup/${child.agent_name}`],
    ["DELETE", `/v1/agents/${child.agent_id}`],
    ["PATCH", `/v1/agents/${child.agent_id}`, { description: "mine" }],
    ["GET", `/v1/agents/${child.agent_id}/stream`],
    ["POST", `/v1/agents/${child.agent_id}/execute`, { input: "x" }],
    ["POST", `/v1/executions/${child.id}/retry`, {}],
    ["GET", `/v1/workflows/${workflow_id}`],
    ["POST", `/v1/workflows/${workflow_id}/run`, {}],
    ["POST", "/v1/workflows/svc.execute.intent/run", {}],
  ];
  for (const [method, path, body] of hidden) {
    expect([path, (await at.node.call(method as "GET", path, body)).status]).toEqual([path, 404]);
  }
  const listed = (await at.node.call("GET", "/v1/agents?limit=500")).body.items.map(({ name }: LooseJson) => name);
  expect(listed.filter((name: string) => name.startsWith("svc"))).toEqual([]);
  const workflow = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: `thief-${process.pid}`, version: "1.0.0" },
    spec: {
      initial_state: "ASK",
      states: { ASK: { kind: "Agent", agent: "{{input.who}}", input: "x", transitions: [] } },
    },
  };
  expect((await at.node.call("POST", "/v1/workflows", workflow)).status).toBe(200);
  const started = (
    await at.node.call("POST", `/v1/workflows/${workflow.metadata.name}/run`, { input: { who: child.agent_name } })
  ).body;
  const ended = await until(async () => {
    const { body } = await pipeline(started.execution_id);
    return body.ended_at === null ? null : body;
  });
  expect(ended).toMatchObject({ status: "failed", error_code: "agent_not_found" });
}, 90_000);
