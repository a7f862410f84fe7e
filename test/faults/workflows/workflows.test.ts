/** One death of the node finds a run at every kind of state: each goes on where it was, and nothing is done twice. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import {
  approvalsOf,
  count,
  dieAndReturn,
  end,
  expectOnce,
  held,
  kept,
  marksOf,
  openGate,
  untilMarks,
} from "./fixture.ts";

setDefaultTimeout(90_000);

const to = (target: string) => [{ target }];
const asks = {
  kind: "Human",
  prompt: "Go on?",
  timeout: "1h",
  transitions: [{ condition: "approved", target: "END" }],
};
const show = { kind: "System", command: "cat marks", transitions: [] };
const subworkflow = { kind: "Subworkflow", workflow_id: "asks" };

/** Definition → its states; the first one is where the node dies. */
const workflows: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  agent: { WORK: { kind: "Agent", agent: "careful", input: "x", transitions: to("SHOW") }, SHOW: show },
  command: { WORK: { kind: "System", command: held("command"), transitions: to("SHOW") }, SHOW: show },
  paused: { WORK: { kind: "System", command: held("paused"), transitions: to("SHOW") }, SHOW: show },
  lost: {
    WORK: { kind: "System", command: held("lost"), transitions: [{ condition: "on_failure", target: "SHOW" }] },
    SHOW: show,
  },
  asks: { ASK: asks, END: end },
  fan: {
    WORK: {
      kind: "ParallelAgents",
      agents: ["quick-a", "quick-b", "slow-a", "slow-b"].map((agent) => ({ agent, input: agent })),
      consensus: { strategy: "majority" },
      transitions: to("SHOW"),
    },
    SHOW: show,
  },
  waits: { WORK: { ...subworkflow, mode: "blocking", result_key: "below", transitions: to("END") }, END: end },
  forgets: { WORK: { ...subworkflow, mode: "fire_and_forget", transitions: to("ASK") }, ASK: asks, END: end },
};

let at: NodeFixture;
const runs: Record<string, string> = {};
const run = (name: string): string => runs[name] ?? "";
const asked: Record<string, { id: string; expires_at: string }> = {};

/** The sub-workflow's run below another. */
async function below(id: string): Promise<{ id: string; status: string }> {
  const path = `/v1/workflows/executions?parent_execution_id=${id}`;
  const [child, ...more] = await until(
    async () => {
      const { executions } = await at.ok("GET", path);
      return executions.length > 0 && executions;
    },
    { what: "the child" },
  );
  expect(more).toEqual([]);
  return child;
}

async function pendingOf(id: string) {
  const approval = await at.approvalOf(id);
  return (await at.ok("GET", `/v1/human-approvals/${approval}`)).request;
}

/** Ends the sandbox of a run's command behind the node's back. */
function loseSandbox(id: string): void {
  const instances = join(at.node.dataDir, "instances");
  for (const name of readdirSync(instances).filter((entry) => !entry.startsWith("."))) {
    const launch = join(instances, name, "launch.json");
    if (!existsSync(launch) || JSON.parse(readFileSync(launch, "utf8")).executionId !== id) continue;
    process.kill(JSON.parse(readFileSync(join(instances, name, "supervisor.json"), "utf8")).pid, "SIGKILL");
    return;
  }
  throw new Error("the run has no sandbox");
}

beforeAll(async () => {
  at = await NodeFixture.open();
  for (const name of ["quick-a", "quick-b"]) await at.deploy({ name, script: [say(name)], tools: [] });
  for (const name of ["slow-a", "slow-b"]) await at.deploy({ name, script: [shell(held(name)), say(name)] });
  await at.deploy({ name: "careful", script: [shell(held("agent")), say("done")] });
  for (const [name, states] of Object.entries(workflows)) await at.register(name, states, kept);

  for (const name of Object.keys(workflows)) runs[name] = await at.start(name);
  for (const name of ["agent", "command", "lost", "paused"]) await untilMarks(at, run(name), 1);
  await until(async () => (await at.agentsOf(run("fan"))).filter(({ status }) => status === "completed").length === 2, {
    timeoutMs: 30_000,
    what: "two agents of four to end",
  });
  await untilMarks(at, run("fan"), 2);
  runs.child = (await below(run("waits"))).id;
  runs.released = (await below(run("forgets"))).id;
  for (const name of ["asks", "child", "released", "forgets"]) asked[name] = await pendingOf(run(name));
  await at.ok("POST", `/v1/workflows/executions/${run("paused")}/pause`);

  await at.node.kill();
  loseSandbox(run("lost"));
  await at.node.restart();
}, 90_000);
afterAll(() => at.close());

test("an agent is followed to its end", async () => {
  await openGate(at, run("agent"));
  expect(await at.ended(run("agent"))).toMatchObject({
    status: "completed",
    state_outputs: { WORK: { status: "completed", output: "done" }, SHOW: { stdout: "agent\n" } },
  });
  expect(await at.agentsOf(run("agent"))).toMatchObject([{ agent_name: "careful", status: "completed" }]);
  await expectOnce(at, run("agent"));
});

test("a command is followed to its end", async () => {
  await openGate(at, run("command"));
  expect(await at.ended(run("command"))).toMatchObject({
    status: "completed",
    state_outputs: { WORK: { status: "success", exit_code: 0 }, SHOW: { stdout: "command\n" } },
  });
  await expectOnce(at, run("command"));
});

test("a command whose sandbox died as well was interrupted, and is not run again", async () => {
  expect(await at.ended(run("lost"))).toMatchObject({
    status: "completed",
    state_outputs: {
      WORK: { status: "failed", error_code: "interrupted", timed_out: false },
      SHOW: { stdout: "lost\n" },
    },
  });
  await expectOnce(at, run("lost"));
});

test("a person is still waited for, until the same moment", async () => {
  expect(await pendingOf(run("asks"))).toEqual(asked.asks);
  const { items } = await at.ok("GET", `/v1/human-approvals?execution_id=${run("asks")}`);
  expect(items).toEqual([asked.asks]);
  expect((await at.record(run("asks"))).waiting_for.expires_at).toBe(asked.asks?.expires_at);
  expect((await at.approve(run("asks"))).status).toBe(200);
  expect((await at.ended(run("asks"))).status).toBe("completed");
  expect(await approvalsOf(at, run("asks"))).toMatchObject([{ id: asked.asks?.id, status: "approved" }]);
  await expectOnce(at, run("asks"));
});

test("of agents side by side those that ended stay so, the others are followed", async () => {
  await openGate(at, run("fan"));
  const { status, state_outputs } = await at.ended(run("fan"));
  expect(status).toBe("completed");
  const names = ["quick-a", "quick-b", "slow-a", "slow-b"];
  expect(state_outputs.WORK.agents).toMatchObject(
    names.map((agent) => ({ agent, output: agent, status: "completed" })),
  );
  const children = await at.agentsOf(run("fan"));
  expect(children.map(({ agent_name }) => agent_name).toSorted()).toEqual(names);
  expect(children.map(({ id }) => id).toSorted()).toEqual(
    state_outputs.WORK.agents.map(({ execution_id }: { execution_id: string }) => execution_id).toSorted(),
  );
  expect((await marksOf(at, run("fan"))).toSorted()).toEqual(["slow-a", "slow-b"]);
  await expectOnce(at, run("fan"));
});

describe("a sub-workflow that waits for a person", () => {
  test("its parent hears of its end once", async () => {
    expect(await pendingOf(run("child"))).toEqual(asked.child);
    await at.approve(run("child"));
    expect(await at.ended(run("waits"))).toMatchObject({
      status: "completed",
      blackboard: { below: { status: "completed", final_state: "END", child_execution_id: run("child") } },
    });
    const types = await expectOnce(at, run("waits"));
    expect(count(types, "SubworkflowTriggered")).toBe(1);
    expect(count(types, "SubworkflowCompleted")).toBe(1);
    expect((await below(run("waits"))).status).toBe("completed");
    await expectOnce(at, run("child"));
  });

  test("one that no run waits for goes on alone", async () => {
    await at.approve(run("forgets"));
    expect(await at.ended(run("forgets"))).toMatchObject({
      status: "completed",
      state_outputs: { WORK: { status: "success", child_execution_id: run("released"), mode: "fire_and_forget" } },
    });
    expect(await pendingOf(run("released"))).toEqual(asked.released);
    await at.approve(run("released"));
    expect((await at.ended(run("released"))).status).toBe("completed");
    expect(count(await expectOnce(at, run("forgets")), "SubworkflowTriggered")).toBe(1);
    await expectOnce(at, run("released"));
  });
});

test("a paused run takes its result and stays, over another death, until it is resumed", async () => {
  const id = run("paused");
  await openGate(at, id);
  const result = await at.reached(id, ({ state_outputs }) => state_outputs.WORK !== undefined, "the result");
  expect(result).toMatchObject({ status: "running", paused_at: expect.any(String), transition_count: 1 });
  await dieAndReturn(at);
  expect(await at.record(id)).toEqual(result);
  await at.ok("POST", `/v1/workflows/executions/${id}/resume`);
  expect(await at.ended(id)).toMatchObject({ status: "completed", state_outputs: { SHOW: { stdout: "paused\n" } } });
  const types = await expectOnce(at, id);
  expect(types.filter((type) => /Paused|Resumed|Exited/.test(type))).toEqual([
    "WorkflowExecutionPaused",
    "WorkflowStateExited",
    "WorkflowExecutionResumed",
    "WorkflowStateExited",
  ]);
});
