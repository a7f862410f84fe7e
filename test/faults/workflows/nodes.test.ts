/** Several nodes, and stores that go away: runs do not depend on the node that began them. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { OwnStores } from "../own-stores.ts";
import { approvalsOf, end, expectOnce, held, kept, marksOf, openGate } from "./fixture.ts";

setDefaultTimeout(90_000);

const env = { SVC_LOG_LEVEL: "warn" };
const asks = { kind: "Human", prompt: "Go on?", transitions: [{ condition: "approved", target: "AFTER" }] };
const waits = { kind: "Subworkflow", workflow_id: "asks", mode: "blocking", result_key: "below" };
const works = { kind: "System", command: held("$SVC_WORKFLOW_EXECUTION_ID"), transitions: [{ target: "END" }] };

let stores: TestStores;
const nodes: NodeProcess[] = [];
beforeEach(async () => {
  stores = await freshStores();
});
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.dispose();
  await stores.dispose();
});

/** One more node on the same stores. @param dataDir of the node whose host it shares; its own host when absent */
async function open(dataDir?: string): Promise<NodeFixture> {
  const node = await startNodeProcess(stores, { env, ...(dataDir === undefined ? {} : { dataDir }) });
  nodes.unshift(node);
  return new NodeFixture(stores, node);
}

async function registerAll(at: NodeFixture): Promise<void> {
  await at.register("works", { WORK: works, END: end }, kept);
  await at.register("asks", { ASK: asks, AFTER: { kind: "System", command: "echo after", transitions: [] } });
  await at.register("waits", { WORK: { ...waits, transitions: [{ target: "END" }] }, END: end });
}

const several = (at: NodeFixture, name: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => at.start(name)));

async function childOf(at: NodeFixture, id: string): Promise<string> {
  const path = `/v1/workflows/executions?parent_execution_id=${id}`;
  const child = await until(async () => (await at.ok("GET", path)).executions[0]?.id, { what: "the child" });
  await at.approvalOf(child);
  return child;
}

async function expectCompleted(at: NodeFixture, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const { status, error } = await at.ended(id);
    expect({ id, status, error }).toEqual({ id, status: "completed", error: null });
    await expectOnce(at, id);
  }
}

const sorted = (lines: readonly string[]) => lines.toSorted();

test("two nodes of one host: when one dies the other takes its commands and timers", async () => {
  const first = await open();
  const { dataDir } = first.node;
  const second = await open(dataDir);
  await registerAll(first);
  const commands = await several(first, "works", 4);
  const waiting = await several(first, "asks", 4);
  const parents = await several(first, "waits", 2);
  const children = await Promise.all(parents.map((id) => childOf(first, id)));
  await until(async () => (await marksOf(first, commands[0] ?? "")).length === 4, {
    timeoutMs: 30_000,
    what: "the commands to run",
  });
  for (const id of waiting) await first.approvalOf(id);
  await first.node.kill();

  await openGate(second, commands[0] ?? "", dataDir);
  for (const id of [...waiting, ...children]) expect((await second.approve(id)).status).toBe(200);
  await expectCompleted(second, [...commands, ...waiting, ...children, ...parents]);
  expect(sorted(await marksOf(second, commands[0] ?? "", dataDir))).toEqual(sorted(commands));
});

test("a node of another host takes what is bound to no host; the rest waits", async () => {
  const first = await open();
  const { dataDir } = first.node;
  await registerAll(first);
  const [command = ""] = await several(first, "works", 1);
  const waiting = await several(first, "asks", 4);
  const [parent = ""] = await several(first, "waits", 1);
  const child = await childOf(first, parent);
  await until(async () => (await marksOf(first, command)).length === 1, { timeoutMs: 30_000, what: "the command" });
  for (const id of waiting) await first.approvalOf(id);
  const elsewhere = await open();
  await first.node.kill();

  for (const id of [...waiting, child]) expect((await elsewhere.approve(id)).status).toBe(200);
  await expectCompleted(elsewhere, [...waiting, child, parent]);
  expect(await elsewhere.record(command)).toMatchObject({ status: "running", current_state: "WORK" });
  await openGate(elsewhere, command, dataDir);
  await first.node.restart();
  await expectCompleted(elsewhere, [command]);
  expect(await marksOf(elsewhere, command, dataDir)).toEqual([command]);
});

test("Redis restarted while runs wait: they go on, and timers due meanwhile fire", async () => {
  const own = await OwnStores.start();
  const { sql, ...address } = await own.fresh();
  const node = await startNodeProcess({ ...address, sql, dispose: async () => {} }, { env });
  try {
    const at = new NodeFixture(stores, node);
    await registerAll(at);
    await at.register("hurries", { ASK: { kind: "Human", prompt: "?", timeout: "5s", transitions: [] } });
    const [command = ""] = await several(at, "works", 1);
    const waiting = await several(at, "asks", 2);
    const [parent = ""] = await several(at, "waits", 1);
    const child = await childOf(at, parent);
    await until(async () => (await marksOf(at, command)).length === 1, { timeoutMs: 30_000, what: "the command" });
    const [hurried = ""] = await several(at, "hurries", 1);
    const { waiting_for } = await at.record(hurried);

    await own.withoutRedis(async () => {
      await openGate(at, command);
      await until(() => Date.now() > Date.parse(waiting_for.expires_at), { what: "the time to be up" });
    });
    for (const id of [...waiting, child]) {
      const approval = await at.approvalOf(id);
      // Requests are refused until the node has Redis back.
      await until(
        async () => {
          const { status } = await node.call("POST", `/v1/human-approvals/${approval}/approve`);
          return status === 200 || status === 409;
        },
        { timeoutMs: 30_000, what: "the decision" },
      );
    }
    await expectCompleted(at, [command, ...waiting, child, parent]);
    expect(await marksOf(at, command)).toEqual([command]);
    expect(await at.ended(hurried)).toMatchObject({ status: "failed", error_code: "human_input_timeout" });
    expect(await approvalsOf(at, hurried)).toMatchObject([{ status: "timed_out" }]);
    await expectOnce(at, hurried);
  } finally {
    await node.dispose();
    await sql.end({ timeout: 2 });
    await own.dispose();
  }
});
