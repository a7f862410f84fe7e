/** Messages and replies between nodes while Redis loses connections or what it holds. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openRedis } from "../../../src/store/redis/connections.ts";
import type { StoreAddress } from "../../harness/runtime/runtime.ts";
import { until } from "../../harness/until.ts";
import { Cluster } from "../cluster.ts";
import { Load } from "../load.ts";
import { OwnStores } from "../own-stores.ts";

let own: OwnStores;
beforeAll(async () => {
  own = await OwnStores.start();
}, 60_000);
afterAll(async () => {
  await own.dispose();
});

async function pair(stores: StoreAddress): Promise<Cluster> {
  const cluster = new Cluster(stores);
  const nodes = await Promise.all([cluster.start(), cluster.start()]);
  await until(
    async () => (await Promise.all(nodes.map((node) => node.status()))).every((one) => one.partitions === 4),
    {
      what: "two fair shares",
    },
  );
  return cluster;
}

test("replies reach callers on other nodes while pub/sub connections are cut", async () => {
  const stores = await own.fresh();
  const cluster = await pair(stores);
  const redis = openRedis(stores.redisUrl);
  try {
    let stopped = false;
    const cutting = (async () => {
      while (!stopped) {
        await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
        await Bun.sleep(5);
      }
    })();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (cluster.nodes[index % 2] as Cluster["nodes"][number]).ask(`k${index % 16}`, "add", {}, 8000),
      ),
    );
    stopped = true;
    await cutting;
    expect(answers).toHaveLength(200);
  } finally {
    redis.disconnect();
    await cluster.killAll();
    await stores.sql.end();
  }
});

test("Redis flushed under load loses nothing that was accepted", async () => {
  const stores = await own.fresh();
  const cluster = await pair(stores);
  const redis = openRedis(stores.redisUrl);
  try {
    const load = new Load(cluster, stores.sql);
    for (let round = 0; round < 3; round++) {
      await load.more(150);
      await redis.flushall();
    }
    await load.more(100);
    await load.settle();
    const left = async () => (await stores.sql`select 1 from runtime_outbox where target is not null`).length;
    await until(async () => (await left()) === 0, { what: "every effect to be taken", timeoutMs: 20_000 });
  } finally {
    redis.disconnect();
    await cluster.killAll();
    await stores.sql.end();
  }
});

test("what a partition received is known to nodes of the former version, and back", async () => {
  const { sql } = await own.fresh();
  await sql`insert into runtime_partitions (partition, sources) values (0, '[["p1",[7,1]],["na",[3,1]]]')`;
  await sql`update runtime_partitions set owner = 'new', epoch = epoch + 1, sources = 'take'`;
  const rows = await sql`select source, seq::int from runtime_received order by source`;
  expect([...rows]).toMatchObject([
    { source: "na", seq: 3 },
    { source: "p1", seq: 7 },
  ]);
  await sql`update runtime_received set seq = 9 where source = 'p1'`;
  // As a node of the former version takes it, and writes what it takes.
  const [taken] = await sql<{ sources: string }[]>`
    update runtime_partitions set owner = 'old', epoch = epoch + 1 returning sources`;
  const sources = new Map(JSON.parse(taken?.sources ?? "[]") as [string, [number, number]][]);
  expect([sources.get("p1")?.[0], sources.get("na")?.[0]]).toEqual([9, 3]);
  await sql`update runtime_partitions set sources = '[["p1",[12,1]]]'`;
  await sql`update runtime_partitions set owner = 'new', epoch = epoch + 1, sources = 'take'`;
  const [again] = await sql<{ seq: number }[]>`select seq::int from runtime_received where source = 'p1'`;
  expect(again?.seq).toBe(12);
  await sql.end();
});
