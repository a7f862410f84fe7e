/** The node is killed while judges are at work: the parent goes on, and no judge is asked twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Followed } from "../../harness/events.ts";
import { type AgentOptions, manifest, say, shell } from "../../harness/manifests.ts";
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

async function deploy(options: AgentOptions): Promise<string> {
  const { status, body } = await node.call("POST", "/v1/agents", manifest(options));
  expect(status).toBe(200);
  return body.agent_id;
}

/** Kills the node once the parent's stream shows an event, starts it again, and waits for the parent's end. */
async function killAt(event: string, agentId: string) {
  const started = await node.call("POST", "/v1/executions", { agent_id: agentId, input: "" });
  const { execution_id } = started.body;
  const headers = { Authorization: `Bearer ${await node.token()}` };
  const before = new Followed(`${node.url}/v1/executions/${execution_id}/stream`, headers);
  await until(() => before.names.includes(event), { timeoutMs: 30_000, what: event });
  await node.kill();
  await node.restart();
  return until(
    async () => {
      const { body } = await node.call("GET", `/v1/executions/${execution_id}?wait_seconds=10`);
      return /^(pending|running)$/.test(body.status) ? null : body;
    },
    { timeoutMs: 60_000, what: "the end" },
  );
}

async function childrenOf(executionId: string) {
  return (await node.call("GET", `/v1/executions?parent_execution_id=${executionId}`)).body.executions;
}

const slowVerdict = { content: '{"score":1,"confidence":1}', delay_ms: 2500 };

// One event comes when a judge has begun; the other before any has.
test.each(["child_execution_spawned", "iteration_completed"])(
  "killed at %s: each judge is asked once, the consensus is reached",
  async (event) => {
    const judges = ["a", "b", "c"].map((name) => `judge-${name}-${event.replaceAll("_", "-")}`);
    for (const name of judges) await deploy({ name, script: [slowVerdict], tools: [] });
    const agentId = await deploy({
      script: [say("x")],
      execution: { validation: [{ type: "multi_judge", judges, criteria: "x", min_judges_required: 3 }] },
    });
    const record = await killAt(event, agentId);
    expect(record).toMatchObject({ status: "completed", output: "x", total_iterations: 1 });
    expect(record.iterations[0].validation_results).toMatchObject([{ score: 1, confidence: 1, passed: true }]);
    const children = await childrenOf(record.id);
    expect(children.map(({ agent_name }: { agent_name: string }) => agent_name).sort()).toEqual(judges);
    expect(children.every(({ status }: { status: string }) => status === "completed")).toBe(true);
  },
  90_000,
);

test("killed while a tool call is judged: it is judged once and run once", async () => {
  await deploy({ name: "guard", script: [slowVerdict], tools: [] });
  const agentId = await deploy({
    script: [shell("echo run >> runs; wc -l < runs"), { content: "{{last}}" }],
    execution: { tool_validation: [{ type: "semantic", judge_agent: "guard", criteria: "x" }] },
  });
  const record = await killAt("child_execution_spawned", agentId);
  expect(record.status).toBe("completed");
  expect(JSON.parse(record.iterations[0].trajectory[0].result_json).stdout.trim()).toBe("1");
  expect((await childrenOf(record.id)).length).toBe(1);
}, 90_000);
