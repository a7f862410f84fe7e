/** Times that are up while no node is alive: what they call for happens within 5 s of a node's return. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { shell } from "../../harness/manifests.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { approvalsOf, end, expectOnce, failedEnd } from "./fixture.ts";

setDefaultTimeout(60_000);

const timeout = "10s";
const promptlyMs = 5_000;
const tag = `62${Math.floor(Math.random() * 1e6)}`;
const asks = { kind: "Human", prompt: "Go on?", transitions: [] };
const late = [{ condition: "on_timeout", target: "LATE" }];
const agent = { agent: "sleeper", input: "x" };

/** Definition → its first state, where it is when its time is up. Every one can go on to LATE. */
const states: Readonly<Record<string, object>> = {
  "by-default": { ...asks, timeout, default_response: "yes", transitions: [{ condition: "approved", target: "LATE" }] },
  "by-rejection": {
    ...asks,
    timeout,
    reject_on_timeout: true,
    transitions: [{ condition: "rejected", target: "REFUSED" }],
  },
  "by-nobody": { ...asks, timeout },
  "late-command": { kind: "System", command: `sleep ${tag}`, timeout, transitions: late },
  "late-agent": { kind: "Agent", ...agent, timeout, transitions: late },
  "late-agents": {
    kind: "ParallelAgents",
    agents: [agent, agent],
    consensus: { strategy: "majority" },
    timeout,
    transitions: late,
  },
  "late-child": {
    kind: "Subworkflow",
    workflow_id: "asks",
    mode: "blocking",
    result_key: "below",
    timeout,
    transitions: late,
  },
  asks,
  works: { kind: "System", command: `sleep ${tag}`, transitions: [] },
  escalates: { ...asks, approvers: ["role:lead"], escalate: { after: timeout, approvers: ["role:director"] } },
};

let at: NodeFixture;
const runs: Record<string, string> = {};
const run = (name: string): string => runs[name] ?? "";
let backAt = 0;

beforeAll(async () => {
  at = await NodeFixture.open();
  await at.deploy({ name: "sleeper", script: [shell(`sleep ${tag}`)] });
  for (const [name, state] of Object.entries(states)) {
    await at.register(name, { WORK: state, LATE: end, REFUSED: failedEnd });
  }
  // What takes longest to be at work comes first.
  const names = Object.keys(states).toReversed();
  for (const name of names) {
    const bounded = name === "works" || name === "asks" ? { timeout_seconds: 10 } : {};
    runs[name] = await at.start(name, bounded);
  }
  await until(() => processesWith(`sleep ${tag}`).length >= 5, { timeoutMs: 9_000, what: "commands and agents" });
  runs.child = await until(
    async () =>
      (await at.ok("GET", `/v1/workflows/executions?parent_execution_id=${run("late-child")}`)).executions[0]?.id,
    { what: "the child" },
  );
  await at.approvalOf(run("child"));
  for (const name of names) expect((await at.record(run(name))).current_state).toBe("WORK");
  await at.node.kill();
  const [{ begun }] = await at.stores.sql<[{ begun: number }]>`
    select max((listed::json->>'started_at')::bigint)::float8 as begun from runtime_actors where kind = 'workflow_run'`;
  await until(() => Date.now() > begun + 10_000, { timeoutMs: 15_000, what: "every time to be up" });
  await at.node.restart();
  backAt = Date.now();
}, 60_000);
afterAll(() => at.close());

/** Waits for a run's end, which must come soon. */
async function endOf(name: string) {
  const record = await at.ended(run(name));
  expect(Date.parse(record.ended_at) - backAt).toBeLessThan(promptlyMs);
  await expectOnce(at, run(name));
  return record;
}

const children = async (name: string) => (await at.agentsOf(run(name))).map(({ status }) => status);
const gaveUp = (statuses: readonly string[]) => statuses.every((status) => /^(cancelled|timed_out)$/.test(status));

test.each([
  ["by-default", "completed", "LATE", { status: "success", decision: "approved", response: "yes" }, null],
  ["by-rejection", "failed", "REFUSED", { status: "failed", decision: "rejected", feedback: "timed out" }, null],
  [
    "by-nobody",
    "failed",
    "WORK",
    { status: "failed", decision: "timed_out", response: "", error: "human_input_timeout" },
    "human_input_timeout",
  ],
])("no decision, %s", async (name, status, current_state, result, error_code) => {
  const record = await endOf(name);
  expect(record).toMatchObject({
    status,
    current_state,
    state_outputs: { WORK: { ...result, timeout: true, decided_by: null } },
  });
  if (error_code !== null) expect(record.error_code).toBe(error_code);
  const [approval, ...more] = await approvalsOf(at, run(name));
  expect(more).toEqual([]);
  const decided = await at.node.call("POST", `/v1/human-approvals/${approval?.id}/approve`);
  expect(decided).toMatchObject({ status: 409, body: { status: approval?.status } });
});

test("a command's: it is ended, and the rule for that followed", async () => {
  expect(await endOf("late-command")).toMatchObject({
    status: "completed",
    state_outputs: { WORK: { status: "failed", exit_code: -1, timed_out: true } },
  });
});

test.each(["late-agent", "late-agents"])("that of a state of agents, %s: they are given up", async (name) => {
  expect(await endOf(name)).toMatchObject({ status: "completed", state_outputs: { WORK: { timed_out: true } } });
  await until(async () => gaveUp(await children(name)), { what: "the agents to be given up" });
});

test("the timeout of a state with a sub-workflow cancels it and its approvals", async () => {
  expect(await endOf("late-child")).toMatchObject({
    blackboard: { below: { timed_out: true, error: "state_timeout" } },
  });
  expect((await at.ended(run("child"))).status).toBe("cancelled");
  await expectOnce(at, run("child"));
  expect(await approvalsOf(at, run("child"))).toMatchObject([{ status: "withdrawn" }]);
});

test("a run's own, while it works and while it waits", async () => {
  for (const name of ["works", "asks"]) {
    expect(await endOf(name)).toMatchObject({ status: "timed_out", error_code: "execution_timeout" });
  }
  expect(await approvalsOf(at, run("asks"))).toMatchObject([{ status: "withdrawn" }]);
});

test("an escalation's: more may decide, once", async () => {
  const approval = await at.approvalOf(run("escalates"));
  const escalated = await until(
    async () => {
      const record = await at.ok("GET", `/v1/human-approvals/${approval}/history`);
      return record.escalated_at !== null && record;
    },
    { timeoutMs: promptlyMs, what: "the escalation" },
  );
  expect(Date.parse(escalated.escalated_at) - backAt).toBeLessThan(promptlyMs);
  expect(escalated.events.filter(({ type }: { type: string }) => type === "escalated")).toHaveLength(1);
  expect(escalated).toMatchObject({ status: "pending", approvers: ["role:lead", "role:director"] });
});

test("in the end nothing runs any more", async () => {
  await until(() => processesWith(`sleep ${tag}`).length === 0, { what: "no process left" });
});
