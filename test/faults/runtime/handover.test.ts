/** Partitions that change hands under load: drain (G8), nodes that join and leave. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { redisKind } from "../../harness/redis/kind.ts";
import { until } from "../../harness/until.ts";
import type { NodeProcess } from "../cluster.ts";
import { gateKey, runsKey } from "../protocol.ts";
import { StoreProxy } from "../proxy.ts";
import { ClusterHarness } from "./harness.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

const at = new ClusterHarness();

async function holds(node: NodeProcess, partitions: number): Promise<void> {
  await until(async () => (await node.status()).partitions === partitions, {
    what: `a node to hold ${partitions} partitions`,
  });
}

test("a node drained under load exits 0 and loses nothing", async () => {
  const [leaving, staying] = await at.pair();
  const load = at.load();
  await load.more(150);
  expect(await at.cluster.drain(leaving)).toBe(0);
  await holds(staying, 8);
  expect((await staying.status()).consuming).toBe(true);
  expect([...(await at.stores.sql`select id from runtime_nodes`)]).toEqual([{ id: staying.nodeId }]);
  await load.more(100);
  await load.settle();
});

test("the last node drains as well, and the next one goes on where it stopped", async () => {
  const last = await at.cluster.start();
  const load = at.load();
  await load.more(100);
  expect(await at.cluster.drain(last)).toBe(0);
  await at.cluster.start();
  await load.more(100);
  await load.settle();
});

test("work on a draining node is resumed by another without waiting for the lease", async () => {
  const redis = openRedis(at.stores.redisServers ?? at.stores.redisUrl);
  const [leaving, staying] = await at.pair();
  const ids = Array.from({ length: 8 }, (_, index) => `work-${index}`);
  for (const id of ids) await staying.ask(id, "work", { activity: "gated", id, input: id });
  const runs = async () =>
    (await Promise.all(ids.map((id) => redis.lrange(runsKey(at.stores.prefix, id), 0, -1)))).flat();
  await until(async () => (await runs()).length === ids.length, { what: "all work to be under way" });
  expect(await at.cluster.drain(leaving)).toBe(0);
  const handed = (await runs()).filter((line) => line.startsWith(leaving.nodeId)).length;
  expect(handed).toBeGreaterThan(0);
  await until(async () => (await runs()).length === ids.length + handed, { what: "the rest to be resumed" });
  await redis.set(gateKey(at.stores.prefix), "1");
  for (const id of ids) {
    await until(
      async () => ((await staying.ask(id, "get", {})) as { outcomes: string[] }).outcomes.join() === `${id}:true`,
      {
        what: `the outcome of ${id}`,
      },
    );
  }
  redis.disconnect();
});

test("three nodes join and leave under load; everything keeps its order and its count", async () => {
  const first = await at.cluster.start();
  const load = at.load();
  await load.more(60);
  const second = await at.cluster.start();
  await holds(second, 4);
  const third = await at.cluster.start();
  await until(
    async () =>
      (await Promise.all(at.cluster.responsive.map((node) => node.status())))
        .map((one) => one.partitions)
        .sort()
        .join() === "2,3,3",
    {
      what: "three fair shares",
    },
  );
  await load.more(100);
  expect(await at.cluster.drain(first)).toBe(0);
  await load.more(60);
  await at.cluster.kill(second);
  await holds(third, 8);
  await load.more(60);
  await load.settle();
});

// Servers that name one another cannot be put behind a proxy.
const canBeAway = redisKind === "single" ? (["PostgreSQL", "Redis", "both"] as const) : (["PostgreSQL"] as const);

test.each([...canBeAway])("a node drained while %s is away still exits 0", async (away) => {
  const database = await StoreProxy.to(at.stores.databaseUrl);
  const redis = redisKind === "single" ? await StoreProxy.to(at.stores.redisUrl) : null;
  const leaving = await at.cluster.start({
    stores: { ...at.stores, databaseUrl: database.url, ...(redis === null ? {} : { redisUrl: redis.url }) },
  });
  expect(await leaving.ask("a", "add", { label: "before" })).toBe(1);
  if (away !== "Redis") database.close();
  if (away !== "PostgreSQL") redis?.close();
  expect(await at.cluster.drain(leaving)).toBe(0);
  database.close();
  redis?.close();
  const next = await at.cluster.start();
  expect(await next.ask("a", "add", { label: "after" })).toBe(2);
});
