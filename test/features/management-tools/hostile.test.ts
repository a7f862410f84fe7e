/** Management tools as callers of the tool server use them: beside their routes, and with what should never pass. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import type { LooseJson } from "../../harness/loose-json.ts";
import { say, shell } from "../../harness/manifests.ts";
import { ExecutionFixture } from "../executions/fixture.ts";
import { connect } from "../mcp/fixture.ts";

let at: ExecutionFixture;
let operator: Client;
let stranger: Client;
/** Of what the operator's tenant has. */
const its = { agent: "", execution: "", workflow: "", run: "" };
const names = { agent: `owned-${process.pid}`, workflow: `flow-${process.pid}` };

beforeAll(async () => {
  at = await ExecutionFixture.open();
  its.agent = await at.deploy({ name: names.agent, script: [shell("echo hi > /workspace/a.txt"), say("x")] });
  its.execution = (await at.start(its.agent, { wait_seconds: 30 })).body.execution_id;
  const workflow = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: names.workflow, version: "1.0.0" },
    spec: { initial_state: "A", states: { A: { kind: "System", command: "noop", transitions: [] } } },
  };
  its.workflow = (await at.node.call("POST", "/v1/workflows", workflow)).body.id;
  its.run = (await at.node.call("POST", `/v1/workflows/${names.workflow}/run`, {})).body.execution_id;
  operator = (await connect([at.node], "modern")).client;
  const token = await at.node.token({ sub: "owner" }, "tenant-north");
  stranger = (await connect([at.node], "modern", { token })).client;
}, 180_000);
afterAll(async () => {
  await operator?.close();
  await stranger?.close();
  await at?.close();
});

async function call(client: Client, tool: string, given: Record<string, unknown>) {
  const name = tool.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  const result = (await client.callTool({ name, arguments: given })) as CallToolResult;
  return { isError: result.isError ?? false, body: result.structuredContent as LooseJson };
}

type Row = readonly [tool: string, given: () => Record<string, unknown>, path: () => string];
const execution = () => ({ execution_id: its.execution });
const run = () => ({ execution_id: its.run });
const named = () => ({ name: names.workflow });
const rows: readonly Row[] = [
  ["svc.agent.list", () => ({ limit: 5 }), () => "/v1/agents?limit=5"],
  ["svc.task.list", () => ({ agent_id: its.agent }), () => `/v1/executions?agent_id=${its.agent}`],
  ["svc.task.status", execution, () => `/v1/executions/${its.execution}`],
  ["svc.workflow.list", () => ({ visible: true }), () => "/v1/workflows?visible=true"],
  ["svc.workflow.get", named, () => `/v1/workflows/${names.workflow}`],
  ["svc.workflow.versions", named, () => `/v1/workflows/${names.workflow}/versions`],
  ["svc.workflow.status", run, () => `/v1/workflows/executions/${its.run}`],
  [
    "svc.workflow.executions.list",
    () => ({ workflow_name: names.workflow }),
    () => `/v1/workflows/executions?workflow_name=${names.workflow}`,
  ],
  ["svc.workflow.logs", run, () => `/v1/workflows/executions/${its.run}/logs`],
  ["svc.runtime.list", () => ({ language: "python" }), () => "/v1/runtimes?language=python"],
];

test.each(rows)("%s answers what its route answers", async (tool, given, path) => {
  const { isError, body } = await call(operator, tool, given());
  const answer = (await at.node.call("GET", path())).body;
  const { status: _, tool: said, ...told } = body;
  const { status: __, ...shown } = answer;
  expect([isError, said]).toEqual([false, tool]);
  expect(told).toEqual(shown);
});

const ofOthers: readonly (readonly [tool: string, given: () => Record<string, unknown>])[] = [
  ["svc.agent.export", () => ({ name: its.agent })],
  ["svc.agent.logs", () => ({ agent_id: its.agent })],
  ["svc.agent.delete", () => ({ agent_id: names.agent })],
  ["svc.task.execute", () => ({ agent_id: its.agent })],
  ["svc.task.status", execution],
  ["svc.task.logs", execution],
  ["svc.task.cancel", execution],
  ["svc.task.remove", execution],
  ["svc.task.wait", execution],
  ["svc.execution.file", () => ({ ...execution(), path: "a.txt" })],
  ["svc.workflow.run", named],
  ["svc.workflow.get", () => ({ name: its.workflow })],
  ["svc.workflow.delete", named],
  ["svc.workflow.promote", named],
  ["svc.workflow.status", run],
  ["svc.workflow.logs", run],
  ["svc.workflow.signal", () => ({ ...run(), response: "yes" })],
  ["svc.workflow.cancel", run],
  ["svc.workflow.retry", run],
  ["svc.workflow.remove", run],
  ["svc.workflow.wait", run],
  ["svc.execute.status", () => ({ pipeline_execution_id: its.run })],
];

test("another tenant's ids are unknown to every tool that takes one", async () => {
  for (const [tool, given] of ofOthers) {
    const known = await call(stranger, tool, given());
    expect([tool, known.isError, known.body.code]).toEqual([tool, true, expect.stringMatching(/not_found$/)]);
    const claimed = await call(stranger, tool, { ...given(), tenant_id: "svc-system" });
    expect([tool, claimed.body.code]).toEqual([tool, "tenant_mismatch"]);
  }
  expect((await at.record(its.execution)).status).toBe("completed");
});

test("paths of files lead to no other file", async () => {
  const read = (path: string) => call(operator, "svc.execution.file", { ...execution(), path });
  expect((await read("/workspace/a.txt")).body).toMatchObject({ content: "hi\n", encoding: "utf-8", truncated: false });
  for (const path of ["../a.txt", "/etc/passwd", "a.txt/..", "..%2fa.txt", "/workspace/../../etc/passwd", "."]) {
    const { isError, body } = await read(path);
    expect([path, isError]).toEqual([path, true]);
    expect(["invalid_path", "path_not_found", "is_a_directory"]).toContain(body.code);
  }
});
