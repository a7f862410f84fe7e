/** Deadlines of approvals while what wakes them is gone: an emptied Redis, an owner that is paused. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { end, expectOnce, failedEnd } from "./fixture.ts";

setDefaultTimeout(90_000);

let stores: TestStores;
const nodes: NodeProcess[] = [];
beforeAll(async () => {
  stores = await freshStores();
  for (let count = 0; count < 2; count++) {
    nodes.push(await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } }));
  }
  const owners = () => stores.sql`select distinct owner from runtime_partitions`;
  await until(async () => (await owners()).length === nodes.length, { what: "shares of both nodes" });
  const transitions = [{ condition: "on_timeout", target: "LATE" }];
  const asks = { kind: "Human", prompt: "Go on?", timeout: "6s", transitions };
  await at(0).register("asks", { ASK: asks, LATE: end, REFUSED: failedEnd });
});
afterAll(async () => {
  for (const node of nodes) await node.dispose();
  await stores?.dispose();
});

const at = (index: number) => new NodeFixture(stores, nodes[index] as NodeProcess);

/** Runs that ask, by the index of the node that owns the approval. */
async function started(
  by: number,
  count: number,
): Promise<{ readonly run: string; readonly approval: string; owner: number }[]> {
  const runs = await Promise.all(Array.from({ length: count }, () => at(by).start("asks")));
  const ids = nodes.map(
    ({ dataDir, pid }) => JSON.parse(readFileSync(join(dataDir, `node-${pid}.json`), "utf8")).node as string,
  );
  const found = [];
  for (const run of runs) {
    const approval = await at(0).approvalOf(run);
    const [row] = await stores.sql<{ owner: string }[]>`
      select p.owner from runtime_actors a join runtime_partitions p on p.partition = a.partition
      where a.kind = 'approval' and a.key = ${approval}`;
    found.push({ run, approval, owner: ids.indexOf(row?.owner ?? "") });
  }
  return found;
}

async function expectLate(runs: readonly { readonly run: string; readonly approval: string }[]): Promise<void> {
  for (const { run, approval } of runs) {
    expect(await at(0).ended(run)).toMatchObject({ status: "completed", current_state: "LATE" });
    await expectOnce(at(0), run);
    const { status, events } = await at(0).ok("GET", `/v1/human-approvals/${approval}/history`);
    expect([status, events.filter(({ type }: { type: string }) => type === "timed_out").length]).toEqual([
      "timed_out",
      1,
    ]);
  }
}

test("an emptied Redis loses no deadline of an approval", async () => {
  const runs = await started(0, 4);
  const redis = openRedis(stores.redisUrl);
  const jobs = async () => (await redis.keys(`${stores.prefix}:bull:approval-deadlines:*-*`)).length;
  await until(async () => (await jobs()) >= 4, { what: "the jobs" });
  const names = await redis.keys(`${stores.prefix}:*`);
  await redis.del(...names);
  redis.disconnect();
  await expectLate(runs);
});

test("approvals of an owner that is paused expire elsewhere, once", async () => {
  const runs = await started(1, 8);
  // A run begins in a partition of the node that took it, and its approval lies beside it.
  expect(runs.some(({ owner }) => owner === 1)).toBe(true);
  const pid = nodes[1]?.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  try {
    await expectLate(runs);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await until(async () => (await nodes[1]?.call("GET", "/health/ready"))?.status === 200, { what: "the paused node" });
  await expectLate(runs);
});
