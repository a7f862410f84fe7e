/** Tool calls that wait for people while processes are killed (docs/reference/approvals.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Followed } from "../../harness/events.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
});

interface Asked {
  readonly executionId: string;
  readonly approval: LooseJson;
}

/** Starts an agent whose call of `cmd.run` waits for a person. */
async function waiting(
  given: Record<string, unknown>,
  approval: Record<string, unknown> = { editable: true },
  more: Record<string, unknown> = {},
): Promise<Asked> {
  const agent = manifest({
    script: [{ ...calls(["cmd.run", given]), content: "It has to be done." }, say("done")],
    spec: { tools: [{ name: "cmd.run", approval }] },
    ...more,
  });
  const { body } = await node.call("POST", "/v1/agents", agent);
  const started = await node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" });
  const executionId: string = started.body.execution_id;
  return { executionId, approval: await openApproval(executionId) };
}

const openApproval = (executionId: string): Promise<LooseJson> =>
  until(
    async () => {
      const { body } = await node.call("GET", `/v1/human-approvals?execution_id=${executionId}`);
      return body.items[0] ?? null;
    },
    { timeoutMs: 60_000, what: "the approval to open" },
  );

async function ended(executionId: string): Promise<LooseJson> {
  return until(
    async () => {
      const { body } = await node.call("GET", `/v1/executions/${executionId}`);
      return body.ended_at === null ? null : body;
    },
    { timeoutMs: 90_000, what: "the execution to end" },
  );
}

const step = (record: LooseJson) => record.iterations[0].trajectory[0];
const approve = (id: string, body: Record<string, unknown> = {}) =>
  node.call("POST", `/v1/human-approvals/${id}/approve`, body);
/** How often a command left its mark in the workspace. */
const marks = (executionId: string): string =>
  readFileSync(join(node.dataDir, "workspaces", executionId, "marks"), "utf8");

test("a call that waits outlives kill -9, twice, and runs once with its edit", async () => {
  const { executionId, approval } = await waiting({ command: "sh", args: ["-c", "echo given >> marks"] });
  expect(approval).toMatchObject({
    kind: "tool_call",
    execution_id: executionId,
    quorum: 1,
    tool_call: {
      tool: "cmd.run",
      arguments: { command: "sh", args: ["-c", "echo given >> marks"] },
      editable: true,
      model_reason: "It has to be done.",
      iteration_number: 1,
      executed: null,
    },
  });
  const seen = await node.call("GET", `/v1/executions/${executionId}`);
  expect(seen.body).toMatchObject({ status: "running", waiting_for: { kind: "tool_call", approval_id: approval.id } });
  expect(step(seen.body).status).toBe("waiting");
  await node.kill();
  await node.restart();
  const edit = { command: "sh", args: ["-c", "echo edited >> marks"] };
  expect((await approve(approval.id, { arguments: edit })).body).toMatchObject({ status: "approved" });
  await node.kill();
  await node.restart();
  const record = await ended(executionId);
  expect(record).toMatchObject({ status: "completed", final_output: "done", waiting_for: null });
  expect(JSON.parse(step(record).result_json)).toMatchObject({ exit_code: 0, edited: true });
  expect(marks(executionId)).toBe("edited\n");
  const history = await node.call("GET", `/v1/human-approvals/${approval.id}/history`);
  expect(history.body).toMatchObject({
    status: "approved",
    tool_call: { edited: true, executed: true, arguments: edit },
  });
  expect(history.body.events.map(({ type }: { type: string }) => type)).toEqual(["requested", "edited", "approved"]);
}, 180_000);

test("with its sandbox killed, a waiting approval is withdrawn and asked anew", async () => {
  const { executionId, approval } = await waiting({ command: "sh", args: ["-c", "echo once >> marks"] });
  const instance = await instanceOf(executionId);
  const supervisor = JSON.parse(readFileSync(join(node.dataDir, "instances", instance, "supervisor.json"), "utf8"));
  process.kill(supervisor.pid, "SIGKILL");
  await until(
    async () => {
      const { body } = await node.call("GET", `/v1/human-approvals/${approval.id}/history`);
      return body.status === "withdrawn";
    },
    { timeoutMs: 60_000, what: "the approval to be withdrawn" },
  );
  expect((await approve(approval.id)).status).toBe(409);
  const anew = await openApproval(executionId);
  expect(anew.id).not.toBe(approval.id);
  await approve(anew.id);
  expect(await ended(executionId)).toMatchObject({ status: "completed" });
  expect(marks(executionId)).toBe("once\n");
}, 180_000);

async function instanceOf(executionId: string): Promise<string> {
  const headers = { Authorization: `Bearer ${await node.token()}` };
  const followed = new Followed(`${node.url}/v1/executions/${executionId}/stream`, headers);
  const spawned = () => followed.frames.find(({ name }) => name === "instance_spawned");
  await until(() => spawned() !== undefined, { timeoutMs: 30_000, what: "the instance" });
  return spawned()?.body.instance_id;
}

test("a rejection is read by the model; an unfit edit leaves the call pending", async () => {
  const { executionId, approval } = await waiting({ command: "echo", args: ["no"] });
  const unfit = await approve(approval.id, { arguments: { command: 5 } });
  expect(unfit).toMatchObject({ status: 422, body: { code: "invalid_arguments" } });
  const above = await approve(approval.id, { remember: "tool" });
  expect(above).toMatchObject({ status: 422, body: { code: "remember_not_allowed" } });
  const whole = await node.call("GET", `/v1/human-approvals/${approval.id}/arguments`);
  expect(whole.body).toMatchObject({ tool: "cmd.run", arguments: { command: "echo", args: ["no"] } });
  const reason = "Not before the release";
  expect((await node.call("POST", `/v1/human-approvals/${approval.id}/reject`, { reason })).status).toBe(200);
  const record = await ended(executionId);
  expect(record.status).toBe("completed");
  expect(JSON.parse(step(record).result_json)).toMatchObject({ code: "rejected_by_person", reason, isError: true });
}, 120_000);

test("approved after iteration_timeout and timeout, the execution completes", async () => {
  const { executionId, approval } = await waiting(
    { command: "true", args: [] },
    {},
    {
      execution: { iteration_timeout: "4s", timeout: "6s" },
    },
  );
  const due = async () => Date.parse((await node.call("GET", `/v1/executions/${executionId}`)).body.deadline_at);
  const first = await due();
  await until(async () => (await due()) > first + 8000, { timeoutMs: 60_000, what: "the deadline to move along" });
  await approve(approval.id);
  expect(await ended(executionId)).toMatchObject({ status: "completed" });
}, 120_000);
