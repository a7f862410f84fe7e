/** Executions whose nodes are killed at the worst moments (docs/reference/executions.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Followed } from "../../harness/events.ts";
import { type AgentOptions, manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { deleteKeys, freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
/** Killed, stopped and started again by one test after the other. */
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: quiet });
}, 60_000);
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});
const quiet = { SVC_LOG_LEVEL: "warn" };

const workspaceOf = (executionId: string) => join(node.dataDir, "workspaces", executionId);
/** Shell text that leaves a line, and ends once the gate is open. */
const held = "echo begun >> runs; until [ -e go ]; do sleep 0.05; done";
const openGate = (executionId: string) => writeFile(join(workspaceOf(executionId), "go"), "");

async function launch(options: AgentOptions): Promise<string> {
  const { body } = await node.call("POST", "/v1/agents", manifest(options));
  const started = await node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" });
  return started.body.execution_id;
}

async function follow(executionId: string, after = 0, by = node): Promise<Followed> {
  const headers = { Authorization: `Bearer ${await by.token()}`, "Last-Event-ID": String(after) };
  return new Followed(`${by.url}/v1/executions/${executionId}/stream`, headers);
}

const seen = (followed: Followed, name: string) =>
  until(() => followed.names.includes(name), { timeoutMs: 30_000, what: name });

/** Follows from where the broken stream stopped, to the end. @returns every event, before and after */
async function goOn(executionId: string, before: Followed) {
  await before.done;
  const after = await follow(executionId, before.ids.at(-1) ?? 0);
  await until(() => after.names.at(-1)?.startsWith("execution_") && after.ended, {
    timeoutMs: 60_000,
    what: "the end",
  });
  const frames = [...before.frames, ...after.frames];
  expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index + 1));
  expect(frames.filter(({ name }) => /^execution_(completed|failed|cancelled|timed_out)$/.test(name)).length).toBe(1);
  return frames;
}

const count = (frames: readonly { name: string }[], wanted: string) =>
  frames.filter(({ name }) => name === wanted).length;

describe("one death, of three executions", () => {
  const followed: Record<string, readonly [string, Followed]> = {};
  const begin = async (name: string, options: AgentOptions, moment: string) => {
    const executionId = await launch(options);
    const before = await follow(executionId);
    followed[name] = [executionId, before];
    await seen(before, moment);
    return [executionId, before] as const;
  };
  /** The execution's id and all its events, once it is over. */
  const whole = async (name: string) => {
    const [executionId, before] = followed[name] ?? [];
    if (executionId === undefined || before === undefined) throw new Error(`unreachable: ${name} was begun`);
    return { executionId, frames: await goOn(executionId, before) };
  };

  beforeAll(async () => {
    const line = `${held}; wc -l < runs`;
    const [commandId] = await begin("command", { script: [shell(line), say("done")] }, "tool_call_started");
    const [goneId, gone] = await begin("gone", { script: [shell(held), say("done")] }, "tool_call_started");
    const instanceId = gone.frames.find(({ name }) => name === "instance_spawned")?.body.instance_id;
    const record = Bun.file(join(node.dataDir, "instances", instanceId, "supervisor.json"));
    // Last, since its model answers after a while.
    const script = [shell("echo x >> runs"), { content: "done", delay_ms: 3000 }];
    await begin("model", { script }, "tool_call_completed");
    await node.kill();
    process.kill(JSON.parse(await record.text()).pid, "SIGKILL");
    await node.restart();
    await Promise.all([openGate(commandId), openGate(goneId)]);
  }, 90_000);

  test("killed while a command runs in the agent: restarted, the execution goes on", async () => {
    const { executionId, frames } = await whole("command");
    expect(frames.at(-1)).toMatchObject({
      name: "execution_completed",
      body: { final_output: "done", total_iterations: 1 },
    });
    expect(count(frames, "iteration_restarted")).toBe(0);
    const { body } = await node.call("GET", `/v1/executions/${executionId}`);
    expect(JSON.parse(body.iterations[0].trajectory[0].result_json).stdout.trim()).toBe("1");
  }, 90_000);

  test("killed during a model call: it is repeated, the loop goes on, no duplicates", async () => {
    const { frames } = await whole("model");
    expect(frames.at(-1)?.name).toBe("execution_completed");
    expect(count(frames, "tool_call_completed")).toBe(1);
    expect(count(frames, "llm_interaction")).toBe(2);
    expect(count(frames, "iteration_restarted")).toBe(0);
  }, 90_000);

  test("the instance itself is gone, too: the iteration begins again under its number", async () => {
    const { frames } = await whole("gone");
    expect(frames.at(-1)).toMatchObject({ name: "execution_completed", body: { total_iterations: 1 } });
    expect(frames.find(({ name }) => name === "iteration_restarted")?.body).toMatchObject({
      iteration_number: 1,
      attempt: 2,
    });
  }, 90_000);
});

test("killed with Redis lost once its agent ended, before the commit: nothing twice", async () => {
  const executionId = await launch({ spec: { advanced: { startup_script: held, bootstrap_path: "/bin/true" } } });
  const before = await follow(executionId);
  await seen(before, "instance_spawned");
  const instanceId = before.frames.find(({ name }) => name === "instance_spawned")?.body.instance_id;
  const workspace = workspaceOf(executionId);
  const instance = join(node.dataDir, "instances", instanceId);
  await until(() => existsSync(join(workspace, "runs")), { what: "the agent to begin" });
  await stores.sql.begin(async (tx) => {
    // No commit gets past this.
    await tx`select 1 from runtime_partitions for update`;
    await openGate(executionId);
    await until(() => existsSync(join(instance, "exit.json")), { timeoutMs: 20_000, what: "the agent to end" });
    // Longer than an ended instance was kept once.
    const endedAt = Date.now();
    await until(() => !existsSync(instance) || Date.now() - endedAt > 11_500, { timeoutMs: 20_000, what: "a while" });
    await node.kill();
    await deleteKeys(stores.redisServers ?? stores.redisUrl, stores.prefix);
    // Its commit waits in PostgreSQL, and would go through without it.
    await tx`select pg_terminate_backend(pid) from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))
      and wait_event in ('transactionid', 'tuple')`;
  });
  await node.restart();
  const frames = await goOn(executionId, before);
  expect(frames.at(-1)).toMatchObject({ name: "execution_completed", body: { total_iterations: 1 } });
  expect(count(frames, "iteration_restarted")).toBe(0);
  expect(await readFile(join(workspace, "runs"), "utf8")).toBe("begun\n");
}, 90_000);

test("SIGTERM: the node leaves with 0, its execution goes on at the next start", async () => {
  const executionId = await launch({ script: [shell(held), say("done")] });
  const before = await follow(executionId);
  await seen(before, "tool_call_started");
  expect(await node.stop()).toBe(0);
  await node.restart();
  await openGate(executionId);
  const frames = await goOn(executionId, before);
  expect(frames.at(-1)?.name).toBe("execution_completed");
  expect(count(frames, "iteration_restarted")).toBe(0);
}, 90_000);

test("two nodes of one host: when one is killed the other carries its executions on", async () => {
  const other = await startNodeProcess(stores, { dataDir: node.dataDir, env: quiet });
  const ids = await Promise.all(
    Array.from({ length: 6 }, () => launch({ script: [shell(held), { content: "done", delay_ms: 1500 }] })),
  );
  const followed = await Promise.all(ids.map((id) => follow(id, 0, other)));
  await Promise.all(followed.map((each) => seen(each, "tool_call_started")));
  await node.kill();
  await Promise.all(ids.map(openGate));
  await Promise.all(followed.map((each) => until(() => each.ended, { timeoutMs: 80_000, what: "the end" })));
  for (const { frames, ids: seenIds } of followed) {
    expect(frames.at(-1)?.name).toBe("execution_completed");
    expect(seenIds).toEqual(seenIds.map((_, index) => index + 1));
    expect(count(frames, "iteration_restarted")).toBe(0);
    expect(count(frames, "tool_call_completed")).toBe(1);
  }
  await other.dispose();
}, 120_000);
