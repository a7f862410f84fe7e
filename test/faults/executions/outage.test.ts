/** Agents whose nodes are all away, or of whose nodes one is frozen (docs/reference/gateway.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const long = process.env.SVC_LONG_TESTS === "1";
/** The long form takes longer than eight repeats of a bootstrap with the longest pauses. */
const outageMs = long ? 150_000 : 8_000;

let stores: TestStores;
const dataDir = mkdtempSync(join(tmpdir(), "svc-outage-"));
const nodes: NodeProcess[] = [];
beforeAll(async () => {
  stores = await freshStores();
  const start = () => startNodeProcess(stores, { dataDir, env: { SVC_LOG_LEVEL: "warn" } });
  nodes.push(...(await Promise.all([start(), start()])));
}, 60_000);
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.dispose()));
  rmSync(dataDir, { recursive: true, force: true });
  await stores.dispose();
});

const pick = (index: number): NodeProcess => {
  const node = nodes[index];
  if (node === undefined) throw new Error("two nodes were started");
  return node;
};

/** Starts agents that run some commands one after the other, and waits until the first ones run. */
async function running(count: number, script: readonly Parameters<typeof shell>[0][]): Promise<string[]> {
  const node = pick(0);
  const steps = [...script.map((line) => shell(line)), say("done")];
  const { body } = await node.call("POST", "/v1/agents", manifest({ script: steps }));
  const starts = Array.from({ length: count }, () =>
    node.call("POST", "/v1/executions", { agent_id: body.agent_id, input: "" }),
  );
  const ids = (await Promise.all(starts)).map((answer) => answer.body.execution_id as string);
  await until(
    async () => {
      const records = await Promise.all(ids.map((id) => node.call("GET", `/v1/executions/${id}`)));
      return records.every(({ body: one }) => (one.iterations?.[0]?.trajectory?.length ?? 0) > 0);
    },
    { timeoutMs: 40_000, what: "a command in each agent" },
  );
  return ids;
}

async function allComplete(ids: readonly string[], timeoutMs: number): Promise<void> {
  for (const id of ids) {
    const ended = await until(
      async () => {
        const { status, body } = await pick(0)
          .call("GET", `/v1/executions/${id}`)
          .catch(() => ({ status: 0, body: null }));
        return status === 200 && body.ended_at !== null ? body : null;
      },
      { timeoutMs, what: "the end" },
    );
    expect(ended).toMatchObject({ status: "completed", total_iterations: 1 });
    expect(ended.iterations[0].attempt ?? 1).toBe(1);
  }
}

test("one node is frozen: its agents go on through the other, and none begins again", async () => {
  const ids = await running(6, ["sleep 1", "sleep 1", "sleep 1", "sleep 1"]);
  process.kill(pick(1).pid, "SIGSTOP");
  try {
    await allComplete(ids, 90_000);
  } finally {
    process.kill(pick(1).pid, "SIGCONT");
  }
}, 120_000);

test("all nodes are killed and come back later: every running agent goes on", async () => {
  const ids = await running(6, ["sleep 2", "sleep 2"]);
  await Promise.all(nodes.map((node) => node.kill()));
  // The time without a node is the subject.
  await Bun.sleep(outageMs);
  await Promise.all(nodes.map((node) => node.restart()));
  await allComplete(ids, 60_000);
}, 300_000);
