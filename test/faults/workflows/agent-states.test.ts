/** The node is killed while a run's agents are at work: they are taken up again, and nobody is started twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const directory = mkdtempSync(join(tmpdir(), "svc-agent-states-faults-"));
const rules = [
  { when: { agent: "writer", prompt_contains: "Attempt 1 scored" }, reply: { content: "good", delay_ms: 1500 } },
  { when: { agent: "writer" }, reply: { content: "bad", delay_ms: 1500 } },
  { when: { agent: "critic", prompt_contains: '"output":"good"' }, reply: { content: '{"score":1}', delay_ms: 1500 } },
  { when: { agent: "critic" }, reply: { content: '{"score":0}', delay_ms: 1500 } },
];
let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  const file = join(directory, "svc.yaml");
  const models = [{ alias: "default", model: "scripted" }];
  writeFileSync(file, JSON.stringify({ llm_providers: [{ name: "scripted", type: "scripted", models, rules }] }));
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn", SVC_CONFIG_FILE: file } });
  for (const name of ["writer", "critic"]) await accepted("/v1/agents", manifest({ name, tools: [] }));
  const write = { kind: "Agent", agent: "writer", input: "x", judges: [{ agent_id: "critic" }], transitions: [] };
  await accepted("/v1/workflows", workflow("inner", write));
  const mode = { mode: "blocking", result_key: "below", input: {} };
  await accepted(
    "/v1/workflows",
    workflow("outer", { kind: "Subworkflow", workflow_id: "inner", ...mode, transitions: [] }),
  );
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
  rmSync(directory, { recursive: true, force: true });
});

const workflow = (name: string, state: Record<string, unknown>) => ({
  apiVersion: "svc.dev/v1",
  kind: "Workflow",
  metadata: { name },
  spec: { initial_state: "WORK", states: { WORK: state }, storage: { workspace: {} } },
});

async function accepted(path: string, body: unknown) {
  const answer = await node.call("POST", path, body as Record<string, unknown>);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

interface LogEvent {
  readonly sequence: number;
  readonly type: string;
}
const eventsOf = async (id: string): Promise<LogEvent[]> =>
  (await node.call("GET", `/v1/workflows/executions/${id}/logs?limit=500`)).body.events;

/** Kills the node once the log shows an event that often, starts it again, and waits for the end. */
async function killAt(id: string, event: string, times: number) {
  await until(async () => (await eventsOf(id)).filter(({ type }) => type === event).length >= times, {
    timeoutMs: 30_000,
    what: event,
  });
  await node.kill();
  await node.restart();
  return until(
    async () => {
      const { body } = await node.call("GET", `/v1/workflows/executions/${id}`);
      return /^(pending|running)$/.test(body.status) ? null : body;
    },
    { timeoutMs: 60_000, what: "the end" },
  );
}

async function expectOneOfEach(id: string): Promise<void> {
  const { body } = await node.call("GET", `/v1/executions?workflow_execution_id=${id}`);
  const seen = body.executions.map((one: { agent_name: string; status: string }) => [one.agent_name, one.status]);
  expect(seen.sort()).toEqual([
    ["critic", "completed"],
    ["critic", "completed"],
    ["writer", "completed"],
    ["writer", "completed"],
  ]);
  const events = await eventsOf(id);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
  expect(events.map(({ type }) => type)).toEqual([
    "WorkflowExecutionStarted",
    "WorkflowStateEntered",
    "WorkflowIterationStarted",
    "WorkflowIterationCompleted",
    "RefinementApplied",
    "WorkflowIterationStarted",
    "WorkflowIterationCompleted",
    "WorkflowStateExited",
    "WorkflowExecutionCompleted",
  ]);
}

test.each([
  ["WorkflowIterationStarted", 1],
  ["WorkflowIterationCompleted", 1],
  ["RefinementApplied", 1],
] as const)(
  "killed at %s",
  async (event, times) => {
    const { execution_id } = await accepted("/v1/workflows/inner/run", {});
    const record = await killAt(execution_id, event, times);
    expect(record).toMatchObject({
      status: "completed",
      blackboard: { WORK: { output: "good", iterations: 2, score: 1 } },
    });
    await expectOneOfEach(execution_id);
  },
  120_000,
);

test("killed while a parent waits for its child", async () => {
  const { execution_id } = await accepted("/v1/workflows/outer/run", {});
  const record = await killAt(execution_id, "SubworkflowTriggered", 1);
  expect(record).toMatchObject({ status: "completed", blackboard: { below: { status: "completed" } } });
  await expectOneOfEach(record.blackboard.below.child_execution_id);
  const types = (await eventsOf(execution_id)).map(({ type }) => type).filter((type) => type.startsWith("Sub"));
  expect(types).toEqual(["SubworkflowTriggered", "SubworkflowCompleted"]);
}, 120_000);
