/** Nodes whose machines' clocks are off by five minutes, one ahead and one behind, beside each other. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { approvalsOf, end, failedEnd } from "./fixture.ts";

setDefaultTimeout(60_000);

const preload = join(import.meta.dir, "../machine-clock.ts");
const fiveMinutes = 300_000;

let stores: TestStores;
const nodes: NodeProcess[] = [];

beforeAll(async () => {
  stores = await freshStores();
  for (const off of [fiveMinutes, -fiveMinutes]) {
    const env = {
      SVC_LOG_LEVEL: "warn",
      BUN_OPTIONS: `--preload ${preload}`,
      SVC_TEST_CLOCK_MS: String(off),
    };
    nodes.push(await startNodeProcess(stores, { env }));
  }
});

afterAll(async () => {
  for (const node of nodes) await node.dispose();
  await stores.dispose();
});

const waits = (timeout: string) => ({ kind: "Human", prompt: "Go on?", timeout, transitions: [] });

test("deadlines come when they are due, and what is not due waits", async () => {
  const [ahead, behind] = nodes.map((node) => new NodeFixture(stores, node));
  if (ahead === undefined || behind === undefined) throw new Error("unreachable: two nodes");
  const late = [{ condition: "on_timeout", target: "LATE" }];
  await ahead.register("soon", { WORK: { ...waits("3s"), transitions: late }, LATE: end, REFUSED: failedEnd });
  await ahead.register("later", { WORK: waits("4m") });
  for (const at of [ahead, behind]) {
    const before = Date.now();
    const [soon, later] = [await at.start("soon"), await at.start("later")];
    const [approval] = await approvalsOf(at, later);
    expect(Math.abs(Date.parse((await at.record(soon)).started_at) - before)).toBeLessThan(10_000);
    await at.ended(soon);
    const took = Date.now() - before;
    expect(took).toBeGreaterThan(2_900);
    expect(took).toBeLessThan(15_000);
    expect((await at.record(later)).current_state).toBe("WORK");
    expect(approval?.status ?? "pending").toBe("pending");
  }
});

test("both hold partitions, and lists are in the order in which runs began at either", async () => {
  const [ahead, behind] = nodes.map((node) => new NodeFixture(stores, node));
  if (ahead === undefined || behind === undefined) throw new Error("unreachable: two nodes");
  await ahead.register("ordered", { WORK: waits("4m") });
  const begun: string[] = [];
  for (let count = 0; count < 10; count++) {
    begun.push(await (count % 2 === 0 ? ahead : behind).start("ordered"));
    // Two nodes' times differ by less than an answer of PostgreSQL takes. More than two leases pass in all.
    await Bun.sleep(300);
  }
  for (const { node } of [ahead, behind]) {
    const { body } = await node.call("GET", "/v1/workflows/executions?workflow_name=ordered&limit=100");
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(begun.toReversed());
  }
  // A node that took the other's lease for over would own them all.
  const owners = await stores.sql`select distinct owner from runtime_partitions where owner is not null`;
  expect(owners.length).toBe(2);
});

/** Starts an agent by schedule over a node. @returns ms between the moment and what PostgreSQL says of its start */
async function lateOf(node: NodeProcess): Promise<number> {
  const inMs = 6_000;
  const deployed = await node.call("POST", "/v1/agents", {
    ...manifest({
      name: `by-schedule-${crypto.randomUUID().slice(0, 8)}`,
      spec: { schedule: { type: "interval", seconds: 3600 } },
    }),
  });
  expect(deployed.body).toHaveProperty("agent_id");
  const agentId: string = deployed.body.agent_id;
  const [row] = await stores.sql<[{ moment: Date }]>`
    update agent_versions set deployed_at = now() + ${inMs - 3_600_000} * interval '1 millisecond'
    where agent_id = ${agentId} returning deployed_at + interval '1 hour' as moment`;
  for (const status of ["paused", "active"]) {
    expect((await node.call("PATCH", `/v1/agents/${agentId}`, { status })).status).toBe(200);
  }
  const started = await until(
    async () => {
      const [fire] = await stores.sql<{ id: string }[]>`
        select execution_id as id from schedule_fires where agent_id = ${agentId}`;
      if (fire === undefined) return null;
      const [now] = await stores.sql<[{ now: Date }]>`select clock_timestamp() as now`;
      return now;
    },
    { timeoutMs: 45_000, what: "a start by schedule" },
  );
  return started.now.getTime() - row.moment.getTime();
}

test.each([
  ["a node that is ahead and one that is behind", 2],
  ["a node that is behind alone", 1],
] as const)("an agent starts at the moment of its schedule: %s", async (_, living) => {
  while (nodes.length > living) await nodes.shift()?.dispose();
  const [node] = nodes;
  if (node === undefined) throw new Error("unreachable: one node at least");
  const late = await lateOf(node);
  expect(late).toBeGreaterThan(-1_000);
  expect(late).toBeLessThan(30_000);
});
