/** What crashes leave behind is taken away at the next start; what is still wanted stays. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sweep } from "../../../../src/features/executions/sweep/sweep.ts";
import { manifest, say, shell } from "../../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../../harness/stores.ts";
import { until } from "../../../harness/until.ts";

let stores: TestStores;
let dataDir: string;
let started: NodeProcess | null = null;
beforeAll(async () => {
  stores = await freshStores();
  dataDir = mkdtempSync(join(tmpdir(), "svc-sweep-"));
});
afterAll(async () => {
  await started?.dispose();
  await stores.dispose();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a workflow run that waits for a person. @returns its id and the volume of its workspace */
async function startWaiting(node: NodeProcess): Promise<{ id: string; workspace: string }> {
  const states = {
    ASK: { kind: "Human", prompt: "?", timeout: "1h", transitions: [{ target: "DONE" }] },
    DONE: { kind: "System", command: "noop", transitions: [] },
  };
  const spec = { initial_state: "ASK", storage: { workspace: { size_limit_mb: 1 } }, states };
  await node.call("POST", "/v1/workflows", {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name: "waits" },
    spec,
  });
  const { execution_id: id } = (await node.call("POST", "/v1/workflows/waits/run", {})).body;
  const { blackboard } = (await node.call("GET", `/v1/workflows/executions/${id}`)).body;
  return { id, workspace: blackboard.workspace_volume_id };
}

/** A deleted volume that the execution or run has mounted for a while. @returns its directory */
async function addDeletedVolume(executionId: string): Promise<string> {
  const id = crypto.randomUUID();
  await stores.sql`
    insert into volumes (volume_id, tenant, kind, label, size_limit_bytes, deleted_at)
    values (${id}, 'svc-system', 'user', ${id}, 1024, now())`;
  await stores.sql`
    insert into volume_mounts (volume_id, execution_id, tenant, created_at)
    values (${id}, ${executionId}, 'svc-system', now() - interval '2 minutes')`;
  const directory = join(dataDir, "volumes", id);
  mkdirSync(directory, { recursive: true });
  return directory;
}

test("a step of the sweep that fails is reported and keeps no other from its work", async () => {
  const reports: unknown[] = [];
  const done: string[] = [];
  const away = (name: string) => async () => {
    done.push(name);
    throw new Error(`${name} is away`);
  };
  await sweep({
    runtime: { of: () => ({}) as never },
    records: { agentsAtWork: away("agents"), toTrim: away("logs") } as never,
    instances: { list: away("engine") } as never,
    volumes: { heldForRuns: away("disk") } as never,
    runs: { known: async () => [], wantedInstances: async () => new Set() },
    deletedAgents: {} as never,
    retentionDays: 1,
    now: Date.now,
    report: (event, { step, error }) => reports.push([event, step, error]),
  });
  // What needs the database alone comes first.
  expect(done).toEqual(["agents", "logs", "engine", "disk"]);
  expect(reports).toEqual([
    ["sweep_failed", "deleted_agents", "Error: agents is away"],
    ["sweep_failed", "logs", "Error: logs is away"],
    ["sweep_failed", "instances", "Error: engine is away"],
    ["sweep_failed", "volumes", "Error: disk is away"],
  ]);
});

test("orphans, old workspaces and old records go; the rest stays", async () => {
  const env = { SVC_LOG_LEVEL: "warn", SVC_EXECUTION_RETENTION_DAYS: "90" };
  const node = await startNodeProcess(stores, { dataDir, env });
  started = node;
  const { body } = await node.call("POST", "/v1/agents", manifest({ script: [shell("echo x > file"), say("done")] }));
  const run = async () => {
    const start = await node.call("POST", "/v1/executions?wait_seconds=30", { agent_id: body.agent_id, input: "" });
    expect(start.body.status).toBe("completed");
    return String(start.body.execution_id);
  };
  const [young, old, ancient] = [await run(), await run(), await run()];
  const workspace = (id: string) => existsSync(join(dataDir, "workspaces", id, "file"));
  expect([young, old, ancient].map(workspace)).toEqual([true, true, true]);
  // Runs and executions hold what they mount, each by its own registration.
  const waiting = await startWaiting(node);
  const atWork = await run();
  const runWorkspace = join(dataDir, "workspaces", waiting.workspace);
  mkdirSync(runWorkspace, { recursive: true });
  await node.stop();

  await stores.sql`update executions set ended_at = now() - interval '25 hours' where execution_id = ${old}`;
  await stores.sql`update executions set ended_at = now() - interval '91 days' where execution_id = ${ancient}`;
  await stores.sql`update executions set ended_at = null where execution_id = ${atWork}`;
  const ofRun = await addDeletedVolume(waiting.id);
  const ofExecution = await addDeletedVolume(atWork);
  const unheld = await addDeletedVolume(crypto.randomUUID());
  const logsOf = async (id: string) =>
    (await stores.sql`select distinct log from runtime_logs where key = ${id}`).map(({ log }) => String(log));
  expect((await logsOf(young)).length).toBeGreaterThan(2);
  const stranger = crypto.randomUUID();
  const orphan = join(dataDir, "instances", crypto.randomUUID());
  mkdirSync(join(dataDir, "workspaces", stranger));
  writeFileSync(join(dataDir, "workspaces", stranger, "file"), "");
  mkdirSync(orphan);
  const plan = {
    instanceId: orphan.split("/").at(-1),
    executionId: stranger,
    workspace: "",
    limits: {},
    cgroups: null,
  };
  writeFileSync(join(orphan, "launch.json"), JSON.stringify(plan));

  await node.restart();
  await until(() => !workspace(stranger) && !existsSync(join(orphan, "launch.json")), {
    timeoutMs: 30_000,
    what: "the orphans to go",
  });
  await until(() => !existsSync(unheld), { what: "a volume that is not mounted to go" });
  await until(() => !workspace(old) && !workspace(ancient), { what: "old workspaces to go" });
  await until(async () => (await node.call("GET", `/v1/executions/${ancient}`)).status === 404, {
    what: "the old record to go",
  });
  expect((await node.call("GET", `/v1/executions/${old}`)).body).toMatchObject({
    status: "completed",
    output: "done",
    iterations: [{ status: "success", trajectory: [{ status: "succeeded" }] }],
  });
  await until(async () => (await logsOf(old)).sort().join() === "events,plan", {
    what: "the logs of an old one to go",
  });
  expect((await logsOf(young)).length).toBeGreaterThan(2);
  expect(workspace(young)).toBe(true);
  expect([runWorkspace, ofRun, ofExecution].map((path) => existsSync(path))).toEqual([true, true, true]);
}, 90_000);
