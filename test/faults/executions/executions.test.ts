/** Executions whose nodes are killed at the worst moments (docs/reference/executions.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Followed } from "../../harness/events.ts";
import { type AgentOptions, manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { deleteKeys, freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
const quiet = { SVC_LOG_LEVEL: "warn" };
beforeAll(async () => {
  stores = await freshStores();
});
afterAll(() => stores.dispose());

async function launch(node: NodeProcess, options: AgentOptions): Promise<string> {
  const { body } = await node.call("POST", "/v1/agents", manifest(options));
  const started = await node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" });
  return started.body.execution_id;
}

async function follow(node: NodeProcess, executionId: string, after = 0): Promise<Followed> {
  const headers = { Authorization: `Bearer ${await node.token()}`, "Last-Event-ID": String(after) };
  return new Followed(`${node.url}/v1/executions/${executionId}/stream`, headers);
}

const seen = (followed: Followed, name: string) =>
  until(() => followed.names.includes(name), { timeoutMs: 30_000, what: name });

/** Follows from where the broken stream stopped, to the end. @returns every event, before and after */
async function goOn(node: NodeProcess, executionId: string, before: Followed) {
  await before.done;
  const after = await follow(node, executionId, before.ids.at(-1) ?? 0);
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

test("killed while a command runs in the agent: restarted, the execution goes on", async () => {
  const node = await startNodeProcess(stores, { env: quiet });
  const line = "echo begun >> runs; sleep 4; wc -l < runs";
  const executionId = await launch(node, { script: [shell(line), say("done")] });
  const before = await follow(node, executionId);
  await seen(before, "tool_call_started");
  await node.kill();
  await node.restart();
  const frames = await goOn(node, executionId, before);
  expect(frames.at(-1)).toMatchObject({
    name: "execution_completed",
    body: { final_output: "done", total_iterations: 1 },
  });
  expect(count(frames, "iteration_restarted")).toBe(0);
  const { body } = await node.call("GET", `/v1/executions/${executionId}`);
  expect(JSON.parse(body.iterations[0].trajectory[0].result_json).stdout.trim()).toBe("1");
  await node.dispose();
}, 90_000);

test("killed during a model call: it is repeated, the loop goes on, no duplicates", async () => {
  const node = await startNodeProcess(stores, { env: quiet });
  const executionId = await launch(node, { script: [shell("echo x >> runs"), { content: "done", delay_ms: 3000 }] });
  const before = await follow(node, executionId);
  await seen(before, "tool_call_completed");
  await node.kill();
  await node.restart();
  const frames = await goOn(node, executionId, before);
  expect(frames.at(-1)?.name).toBe("execution_completed");
  expect(count(frames, "tool_call_completed")).toBe(1);
  expect(count(frames, "llm_interaction")).toBe(2);
  expect(count(frames, "iteration_restarted")).toBe(0);
  await node.dispose();
}, 90_000);

test("two nodes of one host: when one is killed the other carries its executions on", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-pair-"));
  const [one, two] = await Promise.all([
    startNodeProcess(stores, { dataDir, env: quiet }),
    startNodeProcess(stores, { dataDir, env: quiet }),
  ]);
  const scripts = [shell("sleep 3; echo a"), { content: "done", delay_ms: 1500 }];
  const ids = await Promise.all(Array.from({ length: 6 }, () => launch(one, { script: scripts })));
  const followed = await Promise.all(ids.map((id) => follow(two, id)));
  await Promise.all(followed.map((each) => seen(each, "tool_call_started")));
  await one.kill();
  await Promise.all(followed.map((each) => until(() => each.ended, { timeoutMs: 80_000, what: "the end" })));
  for (const { frames, ids: seenIds } of followed) {
    expect(frames.at(-1)?.name).toBe("execution_completed");
    expect(seenIds).toEqual(seenIds.map((_, index) => index + 1));
    expect(count(frames, "iteration_restarted")).toBe(0);
    expect(count(frames, "tool_call_completed")).toBe(1);
  }
  await two.dispose();
  rmSync(dataDir, { recursive: true, force: true });
}, 120_000);

test("the instance itself is gone, too: the iteration begins again under its number", async () => {
  const node = await startNodeProcess(stores, { env: quiet });
  const executionId = await launch(node, { script: [shell("sleep 3"), say("done")] });
  const before = await follow(node, executionId);
  await seen(before, "tool_call_started");
  const instanceId = before.frames.find(({ name }) => name === "instance_spawned")?.body.instance_id;
  await node.kill();
  const supervisor = JSON.parse(await Bun.file(join(node.dataDir, "instances", instanceId, "supervisor.json")).text());
  process.kill(supervisor.pid, "SIGKILL");
  await node.restart();
  const frames = await goOn(node, executionId, before);
  expect(frames.at(-1)).toMatchObject({ name: "execution_completed", body: { total_iterations: 1 } });
  expect(frames.find(({ name }) => name === "iteration_restarted")?.body).toMatchObject({
    iteration_number: 1,
    attempt: 2,
  });
  await node.dispose();
}, 90_000);

test("killed with Redis lost once its agent ended, before the commit: nothing twice", async () => {
  const node = await startNodeProcess(stores, { env: quiet });
  const startup_script = "echo begun >> runs; while [ ! -e go ]; do sleep 0.05; done";
  const executionId = await launch(node, { spec: { advanced: { startup_script, bootstrap_path: "/bin/true" } } });
  const before = await follow(node, executionId);
  await seen(before, "instance_spawned");
  const instanceId = before.frames.find(({ name }) => name === "instance_spawned")?.body.instance_id;
  const workspace = join(node.dataDir, "workspaces", executionId);
  const instance = join(node.dataDir, "instances", instanceId);
  await until(() => existsSync(join(workspace, "runs")), { what: "the agent to begin" });
  await stores.sql.begin(async (tx) => {
    // No commit gets past this.
    await tx`select 1 from runtime_partitions for update`;
    await writeFile(join(workspace, "go"), "");
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
  const frames = await goOn(node, executionId, before);
  expect(frames.at(-1)).toMatchObject({ name: "execution_completed", body: { total_iterations: 1 } });
  expect(count(frames, "iteration_restarted")).toBe(0);
  expect(await readFile(join(workspace, "runs"), "utf8")).toBe("begun\n");
  await node.dispose();
}, 90_000);

test("SIGTERM: the node leaves with 0, its execution goes on at the next start", async () => {
  const node = await startNodeProcess(stores, { env: quiet });
  const executionId = await launch(node, { script: [shell("sleep 4"), say("done")] });
  const before = await follow(node, executionId);
  await seen(before, "tool_call_started");
  expect(await node.stop()).toBe(0);
  await node.restart();
  const frames = await goOn(node, executionId, before);
  expect(frames.at(-1)?.name).toBe("execution_completed");
  expect(count(frames, "iteration_restarted")).toBe(0);
  await node.dispose();
}, 90_000);
