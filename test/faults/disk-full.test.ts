/** A disk that is full while agents run (docs/guide/operate.md): a small file system in memory as the data directory. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { manifest, say, shell } from "../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { scratch } from "../harness/scratch.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";

const dataDir = scratch("small-disk");
const mounted =
  Bun.which("mount") !== null &&
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=48m,mode=0755", "tmpfs", dataDir], { stderr: "ignore" }).success;
if (!mounted)
  console.error("\n!!! no file system can be mounted here: A FULL DISK IS NOT TESTED on this machine !!!\n");

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  if (!mounted) return;
  stores = await freshStores();
  node = await startNodeProcess(stores, { dataDir, env: { SVC_LOG_LEVEL: "warn" } });
}, 60_000);
afterAll(async () => {
  if (!mounted) return;
  await node.dispose();
  await stores.dispose();
  Bun.spawnSync(["umount", "-l", dataDir]);
});

const filler = join(dataDir, "filler");
/** Leaves no byte. */
function fill(): void {
  const file = openSync(filler, "a");
  for (const size of [1_048_576, 4_096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch {}
  }
  closeSync(file);
  expect(statfsSync(dataDir).bavail).toBe(0);
}

async function agent(script: readonly unknown[]): Promise<string> {
  const { body } = await node.call("POST", "/v1/agents", manifest({ script: script as never }));
  return body.agent_id;
}
const start = (agent_id: string) => node.call("POST", "/v1/executions", { agent_id, input: "" });
const record = async (id: string) => (await node.call("GET", `/v1/executions/${id}`)).body;

test.skipIf(!mounted)(
  "running agents wait and end well, starts are refused, no answer names a path",
  async () => {
    // It goes on once it sees that the disk is full.
    const line = "touch begun; while [ ! -e go ]; do sleep 0.1; done; echo end";
    const waiting = await agent([shell(line), say("done")]);
    const quick = await agent([say("quick")]);
    const before = await start(waiting);
    const id = before.body.execution_id as string;
    const workspace = await until(
      () => {
        const found = Bun.spawnSync(["find", dataDir, "-name", "begun"]).stdout.toString().trim();
        return found === "" ? null : join(found, "..");
      },
      { timeoutMs: 20_000, what: "the command" },
    );
    mkdirSync(join(workspace, "go"));
    fill();
    const refused = await until(
      async () => {
        const answer = await start(quick);
        return answer.status === 503 ? answer : null;
      },
      { timeoutMs: 20_000, what: "a refused start" },
    );
    const ready = () => fetch(`${node.url}/health/ready`);
    const told = await until(
      async () => {
        const { status, dependencies } = await (await ready()).json();
        return status === "degraded" ? { dependencies } : null;
      },
      { timeoutMs: 20_000, what: "the readiness answer to say so" },
    );
    expect(told).toMatchObject({ dependencies: { storage: { status: "down", reason: "its disk is full" } } });
    expect(refused.body).toMatchObject({ code: "service_unavailable" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // What was let in while the node still believed in room waits like the first one.
    const { body: list } = await node.call("GET", "/v1/executions");
    const all = (list.items as { execution_id: string }[]).map(({ execution_id }) => execution_id);
    expect(all).toContain(id);
    rmSync(filler);
    await until(async () => (await (await ready()).json()).status === "ready", {
      timeoutMs: 20_000,
      what: "the node to be ready again",
    });
    for (const one of all) {
      const ended = await until(
        async () => {
          const found = await record(one);
          return found.ended_at === null ? null : found;
        },
        { timeoutMs: 40_000, what: "the end" },
      );
      expect(ended).toMatchObject({ status: "completed", total_iterations: 1 });
      expect(JSON.stringify(ended)).not.toContain(dataDir);
    }
    expect((await start(quick)).status).toBeLessThan(300);
  },
  90_000,
);

test.skipIf(!mounted)(
  "files that do not fit are refused without a path, and are not there by half",
  async () => {
    expect(existsSync(filler)).toBe(false);
    const { body: volume } = await node.call("POST", "/v1/volumes", { label: "full" });
    fill();
    const form = new FormData();
    form.append("file", new Blob([Buffer.alloc(300_000, 1)]), "big.bin");
    form.append("path", "/big.bin");
    const response = await fetch(`${node.url}/v1/volumes/${volume.id}/files/upload`, {
      method: "POST",
      headers: { Authorization: `Bearer ${await node.token()}` },
      body: form,
    });
    const text = await response.text();
    expect(text).not.toContain(dataDir);
    expect({ status: response.status, text }).toMatchObject({ status: 503 });
    rmSync(filler);
    const { body: files } = await node.call("GET", `/v1/volumes/${volume.id}/files`);
    expect(JSON.stringify(files)).not.toContain("big.bin");
    expect(node.output).not.toContain("unhandled");
  },
  60_000,
);
