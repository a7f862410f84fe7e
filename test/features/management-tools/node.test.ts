/** Management tools in the loop of a model, on a running node (docs/reference/management-tools.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { LooseJson } from "../../harness/loose-json.ts";
import { type AgentOptions, calls, manifest, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

type Headers = Readonly<Record<string, string>>;
const context = { security_context: "svc-system-operator" };

interface Step {
  readonly tool: string;
  readonly status: string;
  readonly result: LooseJson;
}
/** What the calls of an agent came to. */
async function steps(executionId: string): Promise<readonly Step[]> {
  const record = await at.ended(executionId);
  return record.iterations[0].trajectory.map(
    ({ tool_name, status, result_json }: Record<string, string>): Step => ({
      tool: tool_name ?? "",
      status: status ?? "",
      result: JSON.parse(result_json ?? "null"),
    }),
  );
}

/** An agent whose model makes one reply of calls for each entry, then ends. */
async function runs(
  rounds: readonly (readonly [string, Record<string, unknown>])[],
  options: AgentOptions = {},
  headers: Headers = {},
): Promise<{ readonly id: string; readonly steps: readonly Step[] }> {
  const agentId = await at.deploy(
    { tools: ["*"], script: [...rounds.map((one) => calls(one)), say("done")], spec: context, ...options },
    headers,
  );
  const { status, body } = await at.start(agentId, {}, headers);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: body.execution_id, steps: await steps(body.execution_id) };
}

const workflow = (name: string) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name, version: "1.0.0", output_template: { word: "{{input.word}}" } },
  spec: { initial_state: "ONLY", states: { ONLY: { kind: "System", command: "true", transitions: [] } } },
});

test("both spellings of workflow.wait return the final_output as last_output", async () => {
  const name = `words-${process.pid}`;
  expect((await at.node.call("POST", "/v1/workflows", workflow(name))).status).toBe(200);
  const started = await runs([["svc.workflow.run", { name, input: { word: "yes" } }]]);
  const runId = started.steps[0]?.result.execution_id;
  const waited = await runs([
    ["svc.workflow.wait", { execution_id: runId }],
    ["aegis.workflow.wait", { execution_id: runId }],
    ["aegis.execute.wait", { execution_id: runId }],
    ["svc.workflow.wait", { execution_id: crypto.randomUUID() }],
  ]);
  const record = (await at.node.call("GET", `/v1/workflows/executions/${runId}`)).body;
  expect(record.final_output).toEqual({ word: "yes" });
  for (const { result } of waited.steps.slice(0, 3)) {
    expect(result).toMatchObject({ status: "completed", last_output: record.final_output, timed_out: false });
  }
  expect(waited.steps[3]).toMatchObject({ status: "failed", result: { code: "not_found" } });
});

test("an agent that a call starts is its child and carries the context as a ceiling", async () => {
  const name = `child-${process.pid}`;
  await at.deploy({ name, tools: [], script: [say("from the child")] });
  const parent = await runs([["svc.task.execute", { agent_id: name, input: "go" }]]);
  const childId = parent.steps[0]?.result.execution_id;
  const child = await at.ended(childId);
  expect(child).toMatchObject({
    status: expect.stringMatching(/completed|cancelled/),
    trigger: "tool",
    context_ceilings: ["svc-system-operator"],
    hierarchy: { parent_execution_id: parent.id, depth: 1, path: [parent.id] },
  });
  const record = await at.record(parent.id);
  expect(child.starter).toEqual(record.starter);
  expect(record.starter).toMatchObject({ kind: "service_account", sub: record.initiating_user_sub });
  const names = (await at.events(parent.id)).map((frame) => frame.name);
  expect(names).toContain("child_execution_spawned");
  expect(names).toContain("child_execution_completed");
});

test("task.wait returns what the child put out", async () => {
  const childId = await at.launch({ tools: [], script: [say("the answer")] });
  const waited = await runs([
    ["svc.task.wait", { execution_id: childId }],
    ["aegis.agent.wait", { execution_id: childId }],
    ["svc.task.status", { execution_id: childId }],
    ["svc.task.logs", { execution_id: childId, limit: 1 }],
    ["svc.task.wait", { execution_id: crypto.randomUUID() }],
    ["svc.task.cancel", { execution_id: childId }],
    ["svc.task.remove", { execution_id: childId }],
    ["svc.task.status", { execution_id: childId }],
  ]);
  const [one, other, status, logs, unknown, cancel, remove, gone] = waited.steps;
  const wanted = { tool: "svc.task.wait", execution_id: childId, status: "completed", last_output: "the answer" };
  expect(one?.result).toMatchObject({ ...wanted, iteration_count: 1, last_error: null, timed_out: false });
  expect(other?.result).toMatchObject(wanted);
  expect(status?.result).toMatchObject({ status: "completed", final_output: "the answer" });
  expect(logs?.result).toMatchObject({ count: 1, has_more: true, items: [{ id: 1 }] });
  expect(unknown).toMatchObject({ status: "failed", result: { code: "not_found" } });
  expect(cancel).toMatchObject({ status: "failed", result: { code: "execution_already_terminal" } });
  expect(remove?.result).toMatchObject({ status: "deleted", execution_id: childId });
  expect(gone).toMatchObject({ status: "failed", result: { code: "execution_not_found" } });
});

test("agents are deployed, listed, exported and deleted by tools as by their routes", async () => {
  const name = `made-${process.pid}`;
  const text = JSON.stringify(manifest({ name, tools: [], script: [say("x")] }));
  const made = await runs([
    ["svc.agent.create", { manifest_yaml: text }],
    ["svc.agent.create", { manifest_yaml: text }],
    ["svc.agent.update", { manifest_yaml: text, force: true }],
    ["svc.agent.update", { manifest_yaml: JSON.stringify(manifest({ name: `no-${name}` })) }],
    ["svc.agent.list", { q: name }],
    ["svc.agent.search", { query: name, min_score: 0.9 }],
    ["svc.agent.search", { query: name, labels: { none: "such" } }],
    ["svc.agent.export", { name }],
    ["svc.agent.logs", { agent_id: name, limit: 1 }],
    ["svc.agent.delete", { agent_id: name }],
    ["svc.agent.export", { name }],
  ]);
  const [create, again, update, missing, list, search, none, exported, logs, removed, gone] = made.steps;
  expect(create?.result).toMatchObject({ tool: "svc.agent.create", name, created: true });
  expect(again).toMatchObject({ status: "failed", result: { code: "agent_version_exists" } });
  expect(update?.result).toMatchObject({ revision: 2, created: false });
  expect(missing).toMatchObject({ status: "failed", result: { code: "agent_not_found" } });
  expect(list?.result.items.map((one: LooseJson) => one.name)).toEqual([name]);
  expect(search?.result.items).toMatchObject([{ name, score: 1 }]);
  expect(none?.result.count).toBe(0);
  expect(exported?.result.manifest_yaml).toContain(name);
  expect(logs?.result).toMatchObject({ count: 1, has_more: true });
  expect(removed?.result).toMatchObject({ status: "deleted" });
  expect(gone).toMatchObject({ status: "failed", result: { code: "agent_not_found" } });
});

test("what a call deploys keeps its contexts until a user deploys it anew", async () => {
  const name = `kept-${process.pid}`;
  const text = JSON.stringify(manifest({ name, tools: [], script: [say("x")] }));
  await runs([["svc.agent.create", { manifest_yaml: text }]]);
  const start = async () => {
    const found = (await at.node.call("GET", `/v1/agents/lookup/${name}`)).body;
    return (await at.ended((await at.start(found.agent_id)).body.execution_id)).context_ceilings;
  };
  expect(await start()).toEqual(["svc-system-operator"]);
  expect((await at.node.call("POST", "/v1/agents?force=true", JSON.parse(text))).status).toBe(200);
  expect(await start()).toEqual([]);
});

test("schemas, tools, runtimes, files and settings are told without secrets", async () => {
  const text = JSON.stringify(manifest({ tools: [], script: [say("x")] }));
  const { steps: told } = await runs([
    ["svc.schema.get", { key: "agent" }],
    ["svc.schema.validate", { kind: "agent", manifest_yaml: text }],
    ["svc.schema.validate", { kind: "agent", manifest_yaml: "kind: Agent" }],
    ["svc.schema.validate", { kind: "workflow", manifest_yaml: "kind: Workflow" }],
    ["svc.tools.list", { source: "management" }],
    ["svc.tools.search", { query: "workflow wait" }],
    ["svc.runtime.list", { language: "python" }],
    ["svc.system.info", {}],
    ["svc.system.config", {}],
  ]);
  const [schema, good, bad, badWorkflow, tools, search, runtimes, info, config] = told.map(({ result }) => result);
  expect(schema.schema.title).toContain("agent");
  expect(good).toMatchObject({ valid: true });
  expect(bad.valid || badWorkflow.valid).toBeFalse();
  expect(tools.items.map((one: LooseJson) => one.name)).toContain("aegis.workflow.wait");
  expect(search.items[0].name).toBe("aegis.workflow.wait");
  expect(runtimes.count).toBeGreaterThan(0);
  expect(info).toMatchObject({ mode: "development" });
  const url = config.settings.find((one: LooseJson) => one.name === "DATABASE_URL");
  expect(url.value).toMatch(/^postgres:\/\/\[redacted\]@/);
});

test("the tenant, users, roles and scopes of arguments have no effect", async () => {
  const told = await runs([
    ["svc.agent.list", { tenant_id: "svc-system", roles: ["admin"], user_id: "eve", scopes: ["*"] }],
    ["svc.agent.list", { tenant_id: "acme" }],
  ]);
  expect(told.steps[0]?.status).toBe("succeeded");
  expect(told.steps[1]).toMatchObject({ status: "failed", result: { code: "tenant_mismatch" } });
});

test("system tools are refused without the role, under a context that opens all", async () => {
  const bearer = { Authorization: `Bearer ${await at.node.token({ sub: "owner" }, "tenant-north")}` };
  const contextAll = { name: "all", capabilities: [{ tool_pattern: "*" }] };
  expect((await at.node.call("POST", "/v1/security-contexts", contextAll, bearer)).status).toBe(201);
  const agentId = await at.deploy(
    {
      tools: ["*"],
      script: [calls(["svc.system.config", {}]), calls(["svc.agent.list", {}]), say("done")],
      spec: { security_context: "all" },
    },
    bearer,
  );
  const { body } = await at.start(agentId, { wait_seconds: 30 }, bearer);
  const record = (await at.node.call("GET", `/v1/executions/${body.execution_id}`, undefined, bearer)).body;
  const [config, list] = record.iterations[0].trajectory;
  expect(JSON.parse(config.result_json)).toMatchObject({ status: "error", code: "operator_required" });
  expect(JSON.parse(list.result_json)).toMatchObject({ tool: "svc.agent.list" });
  expect(record.starter).toMatchObject({ realm: "tenant-north", kind: "tenant_user", sub: "owner", role: null });
});

test("a starter who loses a scope loses it in the run within 5 s", async () => {
  const waited = await at.launch({ tools: ["cmd.run"], script: [shell("sleep 300"), say("x")] });
  const made = (name: string) => ({ manifest_yaml: JSON.stringify(manifest({ name, tools: [], script: [say("x")] })) });
  const operator = await at.node.token({ grant_type: "password", username: "operator", password: "dev" }, "svc-system");
  const bearer = { Authorization: `Bearer ${operator}` };
  const agentId = await at.deploy(
    {
      tools: ["svc.*"],
      script: [
        calls(["svc.agent.create", made("before-the-loss")]),
        calls(["svc.task.wait", { execution_id: waited, timeout_seconds: 120 }]),
        calls(["svc.agent.create", made("after-the-loss")]),
        say("done"),
      ],
      spec: context,
    },
    bearer,
  );
  const { body } = await at.start(agentId, {}, bearer);
  await until(async () => (await at.node.call("GET", "/v1/agents/lookup/before-the-loss")).status === 200);
  const { sub } = (await at.record(body.execution_id)).starter;
  await until(async () => {
    const { count } = await at.stores.sql`update users set role = 'readonly' where user_id = ${sub}`;
    return count > 0;
  });
  // As long as the promise says, and no longer.
  await Bun.sleep(5_000);
  await at.node.call("POST", `/v1/executions/${waited}/cancel`);
  const [before, wait, after] = await steps(body.execution_id);
  expect([before?.status, wait?.result.status]).toEqual(["succeeded", "cancelled"]);
  expect(after).toMatchObject({ status: "failed", result: { code: "insufficient_scope" } });
});

test("a posted stimulus runs for its caller, a webhook for its source's creator", async () => {
  const name = `heard-${process.pid}`;
  expect((await at.node.call("POST", "/v1/workflows", workflow(name))).status).toBe(200);
  const secret = "s".repeat(32);
  const route = { source: "shop", workflow: name, secret };
  expect((await at.node.call("POST", "/v1/stimulus-routes", route)).status).toBe(201);
  const caller = await at.node.token({ grant_type: "password", username: "admin", password: "dev" }, "svc-system");
  const sent = { source: "shop", content: "{}" };
  const posted = (await at.node.call("POST", "/v1/stimuli", sent, { Authorization: `Bearer ${caller}` })).body;
  const body = '{"n":1}';
  const hooked = await fetch(`${at.node.url}/v1/webhooks/shop`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Svc-Signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    },
    body,
  });
  const delivered = (await hooked.json()) as LooseJson;
  const starterOf = async (id: string) =>
    (await at.node.call("GET", `/v1/workflows/executions/${id}`)).body.starter ?? null;
  const creator = (await at.node.call("GET", "/v1/stimulus-routes")).body.items[0].created_by.sub;
  const ofPosted = await starterOf(posted.workflow_execution_id);
  expect(ofPosted.kind).toBe("operator");
  expect((await starterOf(delivered.workflow_execution_id)).sub).toBe(creator);
  expect(ofPosted.sub).not.toBe(creator);
});

test("a wait goes on after a kill of the node, and nothing is started twice", async () => {
  const name = `once-${process.pid}`;
  await at.deploy({ name, tools: [], script: [say("x")] });
  const awaited = await at.launch({ tools: ["cmd.run"], script: [shell("sleep 300"), say("x")] });
  const id = await at.launch({
    tools: ["svc.task.*"],
    script: [
      calls(["svc.task.execute", { agent_id: name }]),
      calls(["svc.task.wait", { execution_id: awaited, timeout_seconds: 300 }]),
      say("done"),
    ],
  });
  await until(async () => (await at.record(id)).iterations[0]?.trajectory.length === 2);
  await at.node.kill();
  await at.node.restart();
  await at.node.call("POST", `/v1/executions/${awaited}/cancel`);
  const [started, waited] = await steps(id);
  expect(waited?.result).toMatchObject({ execution_id: awaited, status: "cancelled", timed_out: false });
  const children = (await at.node.call("GET", `/v1/executions?parent_execution_id=${id}`)).body;
  expect(children.items.map((one: LooseJson) => one.execution_id)).toEqual([started?.result.execution_id]);
});

test("a context's denials and approvals bind what its agents start and deploy", async () => {
  const build = {
    name: "build",
    deny_list: ["fs.delete"],
    capabilities: [{ tool_pattern: "fs.write", approval: {} }, { tool_pattern: "*" }],
  };
  expect((await at.node.call("POST", "/v1/security-contexts", build)).status).toBe(201);
  const script = [calls(["fs.delete", { path: "/workspace/none" }]), say("x")];
  const [second, third] = [`second-${process.pid}`, `third-${process.pid}`];
  await at.deploy({ name: second, tools: ["*"], script });
  const text = JSON.stringify(manifest({ name: third, tools: ["*"], script }));
  const first = await runs(
    [
      ["svc.task.execute", { agent_id: second }],
      ["svc.agent.create", { manifest_yaml: text }],
    ],
    // Members of a swarm go on behind the end of their founder.
    { spec: { security_context: "build", advanced: { swarm_enabled: true } } },
  );
  const secondId = first.steps[0]?.result.execution_id;
  const found = (await at.node.call("GET", `/v1/agents/lookup/${third}`)).body;
  const thirdId = (await at.start(found.agent_id)).body.execution_id;
  const asked = async (executionId: string) => {
    const body = {
      tool_name: "fs.write",
      arguments: { path: "/workspace/a", content: "x" },
      execution_id: executionId,
    };
    return (await at.node.call("POST", "/v1/security-contexts/svc-agent-runtime/evaluate", body)).body.approval;
  };
  for (const id of [secondId, thirdId]) {
    const [refused] = await steps(id);
    expect(refused).toMatchObject({ status: "refused", result: { error_code: 2001, code: "tool_denied" } });
    expect(await asked(id)).toBeTrue();
  }
  expect((await at.node.call("POST", "/v1/agents?force=true", JSON.parse(text))).status).toBe(200);
  const freeId = (await at.start(found.agent_id)).body.execution_id;
  expect((await steps(freeId))[0]).toMatchObject({ status: "failed", result: { code: "not_found" } });
  expect(await asked(freeId)).toBeFalse();
});

test("cmd.run with a target under a context without the edge is refused, nothing sent", async () => {
  const target = { edge_node_id: crypto.randomUUID() };
  const { steps: told } = await runs([["cmd.run", { command: "touch", args: ["/workspace/sent"], target }]], {
    spec: { security_context: "svc-agent-runtime" },
  });
  expect(told[0]).toMatchObject({ status: "refused", result: { error_code: 2001, code: "tool_denied" } });
});
