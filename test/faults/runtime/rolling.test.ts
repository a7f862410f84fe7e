/** Nodes replaced one after the other under load, as an upgrade does it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { partitionOf } from "../../../src/runtime/mailbox/partition.ts";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Cluster } from "../cluster.ts";
import { gapsOf } from "../pauses.ts";
import { RetryingClients } from "../retrying-clients.ts";
import { expectOnce } from "../workflows/fixture.ts";

setDefaultTimeout(120_000);

/** How long a partition may take no messages while it changes hands, ms: one second where no other work slows the nodes. */
const pauseBoundMs = process.env.SVC_LONG_TESTS === "1" ? 1000 : 4000;

let stores: TestStores;
beforeEach(async () => {
  stores = await freshStores();
});
afterEach(() => stores.dispose());

test("nodes are replaced under load, and no partition pauses for over a second", async () => {
  const partitions = 24;
  const cluster = new Cluster(stores, { partitions });
  try {
    const first = await Promise.all([cluster.start(), cluster.start(), cluster.start()]);
    const keys = keyOfEach(partitions);
    const repeated = new Map<string, number>();
    const pauses = gapsOf(keys, async (key, number) => {
      for (;;) {
        // A client of a balancer: it asks nodes that are ready, and asks again where one has just begun to stop.
        const nodes = cluster.responsive;
        const done = await nodes[number % nodes.length]?.ask(key, "add", { label: `${number}` }).then(
          () => true,
          (error: Error) => {
            if (error.name !== "RuntimeUnavailable") throw error;
            return false;
          },
        );
        if (done === true) return;
        repeated.set(key, (repeated.get(key) ?? 0) + 1);
        // The pause of a client that is to ask again.
        await Bun.sleep(5);
      }
    });
    await pauses.more(10);
    for (const node of first) {
      await cluster.start();
      await pauses.more(5);
      node.responsive = false;
      expect(await cluster.drain(node)).toBe(0);
      await pauses.more(5);
    }
    const { longestMs, errors, answered } = await pauses.end();
    expect(errors).toEqual([]);
    expect([...longestMs].filter(([, ms]) => ms > pauseBoundMs)).toEqual([]);
    // What was answered happened once; a question that a leaving node refused may have been taken before.
    for (const [key, times] of answered) {
      const count = await cluster.nodes.at(-1)?.ask(key, "add", {});
      expect(count).toBeGreaterThanOrEqual(times + 1);
      expect(count).toBeLessThanOrEqual(times + 1 + (repeated.get(key) ?? 0));
    }
    expect([...(await stores.sql`select error from runtime_dead_letters`)]).toEqual([]);
  } finally {
    await cluster.killAll();
  }
});

/** A key of each partition. */
function keyOfEach(partitions: number): string[] {
  const found = new Map<number, string>();
  for (let index = 0; found.size < partitions; index++) {
    const key = `key-${index}`;
    const partition = partitionOf("counter", key, partitions);
    if (!found.has(partition)) found.set(partition, key);
  }
  return [...found.values()];
}

test("clients that retry 503 see no error while nodes are restarted in turn", async () => {
  const env = { SVC_LOG_LEVEL: "warn", SVC_RATE_LIMITS: "false" };
  const nodes: NodeProcess[] = [];
  try {
    for (let index = 0; index < 3; index++) nodes.push(await startNodeProcess(stores, { env }));
    const at = new NodeFixture(stores, nodes[0] as NodeProcess);
    const ask = { kind: "Human", prompt: "?", transitions: [{ condition: "approved", target: "END" }] };
    await at.register("asks", { ASK: ask, END: { kind: "System", command: "noop", transitions: [] } });
    const clients = new RetryingClients(nodes);
    const runs: string[] = [];
    const load = clients.keepOn(6, async (client) => {
      const { execution_id: id } = await client.ok("POST", "/v1/workflows/asks/run", {});
      runs.push(id);
      const { waiting_for } = await until(
        async () => {
          const record = await client.ok("GET", `/v1/workflows/executions/${id}`);
          return record.waiting_for !== null && record;
        },
        { what: "the run to wait", timeoutMs: 20_000 },
      );
      await client.ok("POST", `/v1/human-approvals/${waiting_for.approval_id}/approve`);
    });
    await load.more(30);
    for (const node of nodes) {
      expect(await node.stop()).toBe(0);
      await load.more(20);
      await node.restart();
      await load.more(20);
    }
    expect(await load.end()).toEqual([]);
    // Only what came in the instant in which a listener closed.
    expect(clients.resets).toBeLessThanOrEqual(2 * nodes.length);
    const ended = () => stores.sql`select status, count(*)::int from workflow_runs group by status`;
    await until(async () => (await ended()).length === 1, { what: "the last runs to end", timeoutMs: 20_000 });
    expect([...(await ended())]).toEqual([{ status: "completed", count: runs.length }]);
    for (const id of runs.slice(-5)) await expectOnce(at, id);
    expect([...(await stores.sql`select error from runtime_dead_letters`)]).toEqual([]);
  } finally {
    for (const node of nodes) await node.dispose();
  }
});
