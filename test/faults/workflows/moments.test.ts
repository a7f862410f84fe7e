/** The node dies at any moment of a run's life, around every commit: nothing is lost, and nothing is done twice. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { say, shell } from "../../harness/manifests.ts";
import { processesWith } from "../../harness/processes.ts";
import { until } from "../../harness/until.ts";
import { approvalsOf, count, dieAndReturn, end, expectOnce, kept, marksOf } from "./fixture.ts";

setDefaultTimeout(120_000);

/** Each round is another moment: early and late ones, and every stage of an answer, are among the first three. */
const rounds = process.env.SVC_LONG_TESTS === "1" ? 10 : 3;

/** Leaves a line that names the run. */
const mark = (name: string) => `echo "$SVC_WORKFLOW_EXECUTION_ID ${name}" >> marks`;
const random = (below: number) => Math.floor(Math.random() * below);

let at: NodeFixture;
beforeAll(async () => {
  at = await NodeFixture.open({ SVC_RATE_LIMITS: "false" });
  await at.deploy({ name: "marker", script: [shell("echo agent >> marks"), say("done")] });
  await at.deploy({ name: "sleeper", script: [shell("sleep 604771"), say("done")] });
  const step = (target: string, name: string) => ({
    kind: "System",
    command: mark(name),
    transitions: [{ condition: "on_success", target }],
  });
  const inner = { kind: "Subworkflow", workflow_id: "inner", mode: "blocking", result_key: "below", input: {} };
  await at.register("inner", { ONE: step("END", "inner"), END: end }, kept);
  await at.register(
    "chain",
    {
      ONE: step("TWO", "one"),
      TWO: { ...inner, transitions: [{ condition: "on_success", target: "THREE" }] },
      THREE: { kind: "Agent", agent: "marker", input: "x", transitions: [{ condition: "on_success", target: "FOUR" }] },
      FOUR: step("END", "four"),
      END: end,
    },
    kept,
  );
}, 60_000);
afterAll(() => at.close());

async function runsOf(query: string): Promise<{ id: string }[]> {
  return (await at.ok("GET", `/v1/workflows/executions?limit=100&${query}`)).executions;
}

test("starts, commands, agents and sub-workflows, killed at random again and again", async () => {
  const accepted: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Work that three nodes died with as soon as it ran is set aside, so no run meets more than two deaths.
    if (round % 2 === 0) for (const { id } of await runsOf("workflow_name=chain")) await at.ended(id);
    for (let run = 0; run < 2; run += 1) accepted.push(await at.start("chain"));
    const cutOff = at.node.call("POST", "/v1/workflows/chain/run", {}).then(
      ({ body }) => void accepted.push(body.execution_id),
      () => {},
    );
    // Early and late rounds meet the start and whatever the runs before are at.
    await Bun.sleep(random(round % 2 === 0 ? 60 : 1_000));
    await dieAndReturn(at);
    await cutOff;
  }
  const ids = (await runsOf("workflow_name=chain")).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(accepted));
  for (const id of ids) {
    const record = await at.ended(id);
    expect({ id, status: record.status, error: record.error }).toEqual({ id, status: "completed", error: null });
    await expectOnce(at, id);
    const [child, ...more] = await runsOf(`parent_execution_id=${id}`);
    expect({ child: child?.id, more }).toEqual({ child: record.blackboard.below.child_execution_id, more: [] });
    await expectOnce(at, child?.id ?? "");
    expect((await marksOf(at, child?.id ?? "")).filter((line) => line.startsWith(child?.id ?? ""))).toHaveLength(1);
    const lines = (await marksOf(at, id)).filter((line) => line.startsWith(id));
    expect(lines).toEqual([`${id} one`, `${id} four`]);
    expect(await at.agentsOf(id)).toMatchObject([{ agent_name: "marker", status: "completed" }]);
  }
  expect(count(await marksOf(at, ids[0] ?? ""), "agent")).toBe(ids.length);
});

interface Stored {
  readonly kind: string;
  readonly key: string;
  readonly listed: string | null;
  readonly state: string;
}

/** What is committed while no node is alive: approvals decided, and runs that went on after theirs. */
async function committed(runs: ReadonlyMap<string, string>): Promise<{ decided: string[]; resumed: string[] }> {
  const rows = await at.stores.sql<Stored[]>`
    select kind, key, listed, state from runtime_actors where key = any(${[...runs.keys(), ...runs.values()]})`;
  const states = new Map(
    rows.map(({ key, listed, state }) => [key, { ...JSON.parse(listed ?? "{}"), ...JSON.parse(state) }]),
  );
  const ids = [...runs.keys()];
  return {
    decided: ids.filter((id) => states.get(runs.get(id) ?? "").status !== "pending"),
    resumed: ids.filter((id) => states.get(id).current?.name !== "ASK"),
  };
}

test("a decision and its consequences are both there after a death, or neither", async () => {
  const ask = { kind: "Human", prompt: "Go on?", transitions: [{ condition: "approved", target: "AFTER" }] };
  const after = { kind: "System", command: mark("{{human.decision}}"), transitions: [] };
  await at.register("decide", { ASK: ask, AFTER: after }, kept);
  for (let round = 0; round < rounds; round += 1) {
    const ids = await Promise.all(Array.from({ length: 6 }, () => at.start("decide")));
    const runs = new Map(
      await Promise.all(ids.map(async (id): Promise<[string, string]> => [id, await at.approvalOf(id)])),
    );
    const answered: string[] = [];
    const answers = ids.map(async (id) => {
      const answer = await at.node.call("POST", `/v1/human-approvals/${runs.get(id)}/approve`).catch(() => null);
      if (answer?.status === 200) answered.push(id);
    });
    // The node dies while the answers are at different stages: no condition stands for the moment.
    await Bun.sleep(random(5) + (round % 3) * 15);
    await at.node.kill();
    await Promise.all(answers);
    const { decided, resumed } = await committed(runs);
    expect(resumed).toEqual(decided);
    expect(decided).toEqual(expect.arrayContaining(answered));
    await at.node.restart();
    for (const id of ids) {
      const status = await until(
        async () => {
          const answer = await at.node.call("POST", `/v1/human-approvals/${runs.get(id)}/approve`);
          return answer.status < 500 ? answer.status : null;
        },
        { what: "an answer" },
      );
      // A decision that was taken by the killed node, too late to be seen above, is one all the same.
      if (decided.includes(id)) expect(status).toBe(409);
    }
    for (const id of ids) {
      expect((await at.ended(id)).status).toBe("completed");
      expect(count(await expectOnce(at, id), "HumanInputResolved")).toBe(1);
      expect(await approvalsOf(at, id)).toMatchObject([{ id: runs.get(id), status: "approved" }]);
      expect((await marksOf(at, id)).filter((line) => line.startsWith(id))).toEqual([`${id} approved`]);
    }
  }
});

test("cancelled and killed at once: the run and all under way are cancelled", async () => {
  const tag = `61${random(1e6)}`;
  const ask = { kind: "Human", prompt: "Go on?", transitions: [] };
  await at.register("asks", { ASK: ask });
  await at.register("cancel-human", { ASK: ask });
  const ephemeral = { spec: { storage: { workspace: {} } } };
  await at.register(
    "cancel-command",
    { WORK: { kind: "System", command: `sleep ${tag}`, transitions: [] } },
    ephemeral,
  );
  const fan = { kind: "ParallelAgents", consensus: { strategy: "majority" }, transitions: [] };
  const agents = ["a", "b"].map((input) => ({ agent: "sleeper", input }));
  await at.register("cancel-fan", { WORK: { ...fan, agents } });
  const waits = { kind: "Subworkflow", workflow_id: "asks", mode: "blocking", result_key: "below", transitions: [] };
  await at.register("cancel-parent", { WORK: waits });

  for (const delay of [0, 15]) {
    const names = ["cancel-human", "cancel-command", "cancel-fan", "cancel-parent"];
    const ids = await Promise.all(names.map((name) => at.start(name)));
    const [human = "", command = "", fanned = "", parent = ""] = ids;
    await until(async () => (await at.agentsOf(fanned)).filter(({ status }) => status === "running").length === 2, {
      timeoutMs: 30_000,
      what: "both agents to run",
    });
    await until(() => processesWith(`sleep ${tag}`).length > 0, { timeoutMs: 30_000, what: "the command" });
    const child = await until(async () => (await runsOf(`parent_execution_id=${parent}`))[0]?.id, { what: "a child" });
    await at.approvalOf(child);
    await at.approvalOf(human);

    const answers = ids.map((id) =>
      at.node.call("POST", `/v1/workflows/executions/${id}/cancel`).then(
        ({ status }) => status,
        () => null,
      ),
    );
    // The moment of the kill is the subject.
    await Bun.sleep(delay);
    await at.node.kill();
    const given = await Promise.all(answers);
    await at.node.restart();
    for (const [index, id] of ids.entries()) {
      if (given[index] === 202) expect((await at.record(id)).status).toBe("cancelled");
      else expect((await at.node.call("POST", `/v1/workflows/executions/${id}/cancel`)).status).toBe(202);
      expect((await at.ended(id)).status).toBe("cancelled");
      await expectOnce(at, id);
    }
    expect((await at.ended(child)).status).toBe("cancelled");
    for (const id of [human, child]) {
      await until(async () => (await approvalsOf(at, id))[0]?.status === "withdrawn", { what: "the withdrawal" });
    }
    await until(async () => (await at.agentsOf(fanned)).every(({ status }) => status === "cancelled"), {
      timeoutMs: 15_000,
      what: "the agents to be cancelled",
    });
    await until(() => processesWith(`sleep ${tag}`).length === 0, {
      timeoutMs: 15_000,
      what: "the end of the command",
    });
    const workspace = join(at.node.dataDir, "workspaces", (await at.record(command)).blackboard.workspace_volume_id);
    await until(() => !existsSync(workspace), { timeoutMs: 15_000, what: "the end of the workspace" });
    await until(() => processesWith("sleep 604771").length === 0, { timeoutMs: 15_000, what: "the end of the agents" });
  }
});
