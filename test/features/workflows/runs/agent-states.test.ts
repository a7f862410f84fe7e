/** States that start agents, end to end: a real node, agents with scripted words, real volumes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calls, say } from "../../../harness/manifests.ts";
import { until } from "../../../harness/until.ts";
import { ExecutionFixture } from "../../executions/fixture.ts";

let at: ExecutionFixture;
let count = 0;
const directory = mkdtempSync(join(tmpdir(), "svc-agent-states-"));
/** What agents without a script of their own say to what they are shown. */
const rules = [
  { when: { agent: "refiner", prompt_contains: "Attempt 1 scored 0.1: please say good" }, reply: { content: "good" } },
  { when: { agent: "refiner" }, reply: { content: "bad" } },
  { when: { agent: "critic", prompt_contains: '"output":"good"' }, reply: { content: '{"score":1}' } },
  { when: { agent: "critic" }, reply: { content: '{"score":0.1,"feedback":"please say good"}' } },
  { when: { agent: "lenient" }, reply: { content: '{"score":0.9,"confidence":1,"reasoning":"fine"}' } },
  { when: { agent: "strict" }, reply: { content: '{"score":0.5,"confidence":1}' } },
  { when: { agent: "editor" }, reply: { content: '{"edited":true}' } },
];
beforeAll(async () => {
  const file = join(directory, "svc.yaml");
  const models = [{ alias: "default", model: "scripted" }];
  writeFileSync(file, JSON.stringify({ llm_providers: [{ name: "scripted", type: "scripted", models, rules }] }));
  at = await ExecutionFixture.open({ SVC_CONFIG_FILE: file });
  for (const name of ["refiner", "critic", "lenient", "strict", "editor"]) await at.deploy({ name, tools: [] });
});
afterAll(async () => {
  await at.close();
  rmSync(directory, { recursive: true, force: true });
});

type States = Record<string, Record<string, unknown>>;

/** Registers a workflow that begins with its first state. @returns its name */
async function register(
  states: States,
  spec: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<string> {
  count += 1;
  const name = `flow-${process.pid}-${count}`;
  const manifest = {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name, version: "1.0.0" },
    spec: { initial_state: Object.keys(states)[0], states, ...spec },
  };
  const answer = await at.node.call("POST", "/v1/workflows", manifest, headers);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return name;
}

async function begin(name: string, body: Record<string, unknown> = {}): Promise<string> {
  const answer = await at.node.call("POST", `/v1/workflows/${name}/run`, body);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body.execution_id;
}

const recordOf = async (id: string) => (await at.node.call("GET", `/v1/workflows/executions/${id}`)).body;

async function ended(id: string) {
  return until(
    async () => {
      const record = await recordOf(id);
      return /^(pending|running)$/.test(record.status) ? null : record;
    },
    { timeoutMs: 60_000, what: "the run to end" },
  );
}
const run = async (states: States, body: Record<string, unknown> = {}, spec: Record<string, unknown> = {}) =>
  ended(await begin(await register(states, spec), body));
const eventsOf = async (id: string) =>
  (await at.node.call("GET", `/v1/workflows/executions/${id}/logs?limit=500`)).body.events as {
    type: string;
    details: Record<string, unknown>;
  }[];
const executionsOf = async (id: string) =>
  (await at.node.call("GET", `/v1/executions?workflow_execution_id=${id}`)).body.executions;

describe("Agent", () => {
  test("is judged and refined until it is good enough", async () => {
    const record = await run({
      WRITE: {
        kind: "Agent",
        agent: "refiner",
        input: "Say something.",
        judges: [{ agent_id: "critic" }],
        transitions: [],
      },
    });
    expect(record).toMatchObject({
      status: "completed",
      blackboard: { WRITE: { status: "completed", output: "good", score: 1, iterations: 2 } },
    });
    const executions = await executionsOf(record.id);
    expect(
      executions.map((one: { agent_name: string; trigger: string }) => [one.agent_name, one.trigger]).toReversed(),
    ).toEqual([
      ["refiner", "workflow"],
      ["critic", "validator"],
      ["refiner", "workflow"],
      ["critic", "validator"],
    ]);
    for (const { hierarchy, workflow_execution_id } of executions) {
      expect(hierarchy).toMatchObject({ parent_execution_id: record.id, depth: 1, path: [record.id] });
      expect(workflow_execution_id).toBe(record.id);
    }
    const types = (await eventsOf(record.id)).map(({ type }) => type).filter((type) => /Iteration|Refine/.test(type));
    expect(types).toEqual([
      "WorkflowIterationStarted",
      "WorkflowIterationCompleted",
      "RefinementApplied",
      "WorkflowIterationStarted",
      "WorkflowIterationCompleted",
    ]);
    // The judge was told what the agent was really asked.
    const { input } = await at.record(executions[0].id);
    expect(input.task).toContain("Do as told.");
    expect(input.worker_mounts).toMatchObject([{ mount_path: "/workspace" }]);
  });

  test("a failing one follows its rule, or fails the run", async () => {
    const nobody = { kind: "Agent", agent: "{{input.who}}", input: "x" };
    const rescued = await run(
      {
        WORK: { ...nobody, transitions: [{ condition: "on_failure", target: "SORRY" }] },
        SORRY: { kind: "System", command: "noop", transitions: [] },
      },
      { input: { who: "nobody-at-all" } },
    );
    expect(rescued).toMatchObject({ status: "completed", blackboard: { WORK: { error_code: "agent_not_found" } } });
    const failed = await run(
      {
        WORK: { ...nobody, transitions: [{ condition: "on_success", target: "DONE" }] },
        DONE: { kind: "System", command: "noop", transitions: [] },
      },
      { input: { who: "nobody-at-all" } },
    );
    expect(failed).toMatchObject({ status: "failed", error_code: "agent_not_found" });
  });

  test("states share the run's workspace", async () => {
    const writes = `writer-${process.pid}`;
    const reads = `reader-${process.pid}`;
    await at.deploy({
      name: writes,
      script: [calls(["fs.write", { path: "/workspace/note", content: "from the first" }]), say("written")],
      tools: ["fs.write"],
    });
    await at.deploy({
      name: reads,
      script: [calls(["fs.read", { path: "/workspace/note" }]), say("{{last}}")],
      tools: ["fs.read"],
    });
    const record = await run(
      {
        WRITE: { kind: "Agent", agent: writes, input: "", transitions: [{ condition: "on_success", target: "READ" }] },
        READ: { kind: "Agent", agent: reads, input: "", transitions: [] },
      },
      {},
      { storage: { workspace: {} } },
    );
    expect(record.status).toBe("completed");
    expect(JSON.stringify(record.blackboard.READ.output)).toContain("from the first");
  });

  test("an output handler replaces the output", async () => {
    const record = await run({
      WRITE: {
        kind: "Agent",
        agent: "refiner",
        input: "x",
        output_handler: { type: "agent", agent_id: "editor", input_template: "Edit: {{output}}" },
        transitions: [],
      },
    });
    expect(record.blackboard.WRITE).toMatchObject({ status: "completed", output: { edited: true } });
    const [handler] = await executionsOf(record.id);
    expect(handler).toMatchObject({ agent_name: "editor", trigger: "output_handler" });
    expect((await at.record(handler.id)).input).toBe("Edit: bad");
  });

  test("cancelling the run cancels its agent", async () => {
    const slow = `slow-${process.pid}`;
    await at.deploy({ name: slow, script: [{ content: "late", delay_ms: 60_000 }], tools: [] });
    const id = await begin(await register({ WAIT: { kind: "Agent", agent: slow, input: "", transitions: [] } }));
    const [child] = await until(
      async () => {
        const children = await executionsOf(id);
        return children.length > 0 && children[0].status === "running" ? children : null;
      },
      { timeoutMs: 30_000, what: "the agent to run" },
    );
    expect((await at.node.call("POST", `/v1/workflows/executions/${id}/cancel`, {})).status).toBe(202);
    expect((await at.ended(child.id)).status).toBe("cancelled");
    expect((await recordOf(id)).status).toBe("cancelled");
  });
});

describe("ParallelAgents", () => {
  test("their own verdicts make the consensus", async () => {
    const record = await run({
      VOTE: {
        kind: "ParallelAgents",
        agents: [
          { agent: "lenient", input: "x" },
          { agent: "strict", input: "x", weight: 3 },
        ],
        consensus: { strategy: "weighted_average", threshold: 0.6 },
        transitions: [],
      },
    });
    expect(record.blackboard.VOTE).toMatchObject({
      status: "completed",
      consensus: { score: 0.6, confidence: 0.916, binary_valid: true },
      agents: [{ agent: "lenient" }, { agent: "strict" }],
    });
  });
});

describe("Subworkflow", () => {
  test("blocking: the parent waits, and has what the child came to", async () => {
    const inner = await register({
      EDIT: { kind: "Agent", agent: "editor", input: "{{input.text}}", transitions: [] },
    });
    const record = await run({
      SUB: {
        kind: "Subworkflow",
        workflow_id: inner,
        mode: "blocking",
        result_key: "edited",
        input: { text: "t" },
        transitions: [],
      },
    });
    expect(record).toMatchObject({
      status: "completed",
      blackboard: { SUB: { status: "completed", final_state: "EDIT", iterations: 1 }, edited: { status: "completed" } },
    });
    const child = await recordOf(record.blackboard.SUB.child_execution_id);
    expect(child).toMatchObject({ status: "completed", parent_execution_id: record.id, input: { text: "t" } });
    const [edit] = await executionsOf(child.id);
    expect(edit.hierarchy).toMatchObject({ depth: 2, path: [record.id, child.id] });
  });

  test("a workflow that starts itself ends by depth", async () => {
    count += 1;
    const self = `flow-${process.pid}-${count}`;
    count -= 1;
    const name = await register({
      SELF: {
        kind: "Subworkflow",
        workflow_id: self,
        mode: "blocking",
        result_key: "below",
        input: {},
        transitions: [],
      },
    });
    expect(name).toBe(self);
    const record = await ended(await begin(name));
    expect(record).toMatchObject({ status: "failed", error_code: "depth_exceeded" });
    const deepest = record.blackboard.SELF.blackboard.SELF.blackboard.SELF.blackboard.SELF;
    expect(deepest).toMatchObject({ status: "failed", error: "depth_exceeded" });
  });
});

describe("quotas", () => {
  test("children beyond the tenant's quota wait for their turn; judges are never refused", async () => {
    const bearer = await at.node.token({ username: crypto.randomUUID(), tier: "free" }, "svc-consumer");
    const headers = { Authorization: `Bearer ${bearer}` };
    await at.deploy({ name: "slow", script: [{ content: "done", delay_ms: 700 }], tools: [] }, headers);
    await at.deploy({ name: "judge", script: [say('{"score":1}')], tools: [] }, headers);
    const name = await register(
      {
        ALL: {
          kind: "ParallelAgents",
          agents: [1, 2, 3, 4].map(() => ({ agent: "slow", input: "" })),
          consensus: { strategy: "majority" },
          judges_for_parallel: [{ agent_id: "judge" }],
          transitions: [],
        },
      },
      {},
      headers,
    );
    const started = await at.node.call("POST", `/v1/workflows/${name}/run`, {}, headers);
    expect(started.status).toBe(200);
    let most = 0;
    const record = await until(
      async () => {
        const { body } = await at.node.call("GET", "/v1/executions?status=pending,running", undefined, headers);
        most = Math.max(most, body.count);
        const path = `/v1/workflows/executions/${started.body.execution_id}`;
        const { body: found } = await at.node.call("GET", path, undefined, headers);
        return found.status === "running" ? null : found;
      },
      { timeoutMs: 60_000, what: "the run to end" },
    );
    expect(record).toMatchObject({ status: "completed", blackboard: { ALL: { consensus: { score: 1 } } } });
    expect(record.blackboard.ALL.agents.map((one: { status: string }) => one.status)).toEqual(
      Array.from({ length: 4 }, () => "completed"),
    );
    expect(most).toBeLessThanOrEqual(2);
  }, 90_000);
});
