/** The node is killed while an output is handled or delivered: neither is lost, and the receiver can tell repeats. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Followed } from "../../harness/events.ts";
import { type AgentOptions, manifest, say } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { Receiver } from "../../harness/outside/receiver.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let node: NodeProcess;
const receiver = new Receiver();
const folder = mkdtempSync(join(tmpdir(), "svc-output-"));
beforeAll(async () => {
  stores = await freshStores();
  const names = join(folder, "names.json");
  writeFileSync(names, JSON.stringify({ "hook.test": ["127.0.0.1"] }));
  node = await startNodeProcess(stores, {
    env: { SVC_LOG_LEVEL: "warn", SVC_TEST_NAMES: names, SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' },
    program: "test/harness/node/node-with-resolver.ts",
  });
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.replies.clear();
});

/** Lets an agent's handler and destinations reach the receiver, which is on this machine. */
const listing = () => ({ network: { mode: "deny", allowlist: [`127.0.0.1:${receiver.port}`] } });

/** Deploys, starts, and kills the node once a path was asked for the first time, which gets no answer. */
async function killAt(path: string, then: () => Response, options: AgentOptions): Promise<string> {
  receiver.replies.set(path, (_, earlier) => (earlier === 0 ? new Promise<Response>(() => {}) : then()));
  const { body } = await node.call("POST", "/v1/agents", manifest(options));
  const started = await node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" });
  await until(() => receiver.at(path).length === 1, { timeoutMs: 30_000, what: `a request for ${path}` });
  await node.kill();
  await node.restart();
  await until(() => receiver.at(path).length === 2, { timeoutMs: 30_000, what: `another request for ${path}` });
  return started.body.execution_id;
}
const record = async (executionId: string) =>
  (await node.call("GET", `/v1/executions/${executionId}?wait_seconds=20`)).body;
const keys = () => new Set(receiver.received.map(({ headers }) => headers.get("idempotency-key")));

test("killed between the acceptance of an output and the end of its handler", async () => {
  const output_handler = { type: "webhook", url: receiver.url("/tidy", "hook.test"), required: true };
  const options = { script: [say("raw")], spec: { output_handler, security: listing() } };
  const executionId = await killAt("/tidy", () => new Response("tidy"), options);
  expect(await record(executionId)).toMatchObject({ status: "completed", output: "tidy", raw_output: "raw" });
  expect(keys().size).toBe(1);
}, 90_000);

test("killed while the end of an execution is delivered", async () => {
  const destinations = [{ type: "webhook", url: receiver.url("/sink", "hook.test") }];
  const options = {
    script: [say("raw")],
    execution: { delivery: { destinations } },
    spec: { security: listing() },
  };
  const executionId = await killAt("/sink", () => new Response(null, { status: 204 }), options);
  expect(await record(executionId)).toMatchObject({ status: "completed", output: "raw" });
  const bodies = receiver.at("/sink").map(({ body }) => body);
  expect(new Set(bodies).size).toBe(1);
  expect(keys().size).toBe(1);
}, 90_000);

test("killed after context was loaded: it is not loaded again", async () => {
  const context = [{ type: "url", url: receiver.url("/page", "hook.test") }];
  const allowlist = [`hook.test:${receiver.port}`, `127.0.0.1:${receiver.port}`];
  receiver.replies.set("/page", (_, earlier) => new Response(`asked ${earlier + 1} times`));
  const { body } = await node.call(
    "POST",
    "/v1/agents",
    manifest({
      script: { 1: [{ content: "no", delay_ms: 1500 }], 2: [say("yes")] },
      execution: { mode: "iterative", max_iterations: 2, validation: [{ type: "regex", pattern: "yes" }] },
      spec: { context, security: { network: { mode: "allow", allowlist } } },
    }),
  );
  const started = await node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" });
  const { execution_id } = started.body;
  const headers = { Authorization: `Bearer ${await node.token()}` };
  const stream = new Followed(`${node.url}/v1/executions/${execution_id}/stream`, headers);
  await until(() => stream.names.includes("instance_spawned"), { timeoutMs: 30_000, what: "the first instance" });
  await node.kill();
  await node.restart();
  const ended = await record(execution_id);
  expect(ended).toMatchObject({ status: "completed", output: "yes" });
  const { iterations } = (await node.call("GET", `/v1/executions/${execution_id}?include=llm`)).body;
  expect(iterations[1].llm_interactions[0].prompt).toContain("asked 1 times");
  expect(receiver.received.length).toBe(1);
}, 90_000);
