/** Messages and replies between nodes while Redis loses connections or what it holds. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { partitionOf, runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import type { StoreAddress } from "../../harness/runtime/runtime.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";
import { OwnStores } from "../own-stores.ts";
import { StoreProxy } from "../proxy.ts";

let own: OwnStores;
beforeAll(async () => {
  own = await OwnStores.start();
}, 60_000);
afterAll(async () => {
  await own.dispose();
});

async function pair(stores: StoreAddress, settings: ConstructorParameters<typeof Cluster>[1] = {}): Promise<Cluster> {
  const cluster = new Cluster(stores, settings);
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
        // A pace: the connections come back between two cuts.
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

test("what a commit took outlives its node and Redis, both gone in the same moment", async () => {
  const stores = await own.fresh();
  const cluster = await pair(stores);
  const redis = openRedis(stores.redisUrl);
  const [teller, owner] = cluster.nodes as [NodeProcess, NodeProcess];
  try {
    const owned = await stores.sql<{ partition: number }[]>`
      select partition from runtime_partitions where owner = ${owner.nodeId}`;
    const partitions = new Set(owned.map(({ partition }) => partition));
    const key = Array.from({ length: 100 }, (_, index) => `told-${index}`).find((one) =>
      partitions.has(partitionOf("counter", one, 8)),
    ) as string;
    // For a moment the mailbox has no reader.
    await cluster.kill(owner);
    await teller.tellCommitted(key, "add", {});
    await Promise.all([cluster.kill(teller), redis.flushall()]);
    const successor = await cluster.start();
    await successor.ask(key, "add", {}, 20_000);
    const [row] = await stores.sql<{ count: string }[]>`
      select state::json ->> 'count' as count from runtime_actors where kind = 'counter' and key = ${key}`;
    expect(Number(row?.count)).toBe(2);
  } finally {
    redis.disconnect();
    await cluster.killAll();
    await stores.sql.end();
  }
});

test("a take-over ends without Redis, with effects that wait for it", async () => {
  const stores = await own.fresh();
  const proxy = await StoreProxy.to(stores.redisUrl);
  const way = { ...stores, redisUrl: proxy.url, redisServers: proxy.url };
  const cluster = await pair(stores, { stores: { ...way, pooled: false } });
  const redis = openRedis(stores.redisUrl);
  const [left, gone] = cluster.nodes as [NodeProcess, NodeProcess];
  try {
    // As the other node leaves it when it dies between a commit and what follows.
    await stores.sql`
      insert into runtime_outbox (partition, seq, effect, target)
      select partition, outbox_seq + n,
        case n when 1 then '["reply","caller","~1",{"value":1}]'
          else '["tell","counter","told","faults","add",{}]' end,
        case n when 1 then null else ${partitionOf("counter", "told", 8)}::int end
      from runtime_partitions, generate_series(1, 2) n where owner = ${gone.nodeId}`;
    await stores.sql`update runtime_partitions set outbox_seq = outbox_seq + 2 where owner = ${gone.nodeId}`;
    proxy.refuse();
    await cluster.kill(gone);
    // Answered in memory: of each partition.
    await until(async () => (await left.status()).partitions === 8, { what: "every partition", timeoutMs: 20_000 });
    await left.measure("faults", 50, true);
    const told = async () => {
      const [row] = await stores.sql<{ count: string }[]>`
        select state::json ->> 'count' as count from runtime_actors where kind = 'counter' and key = 'told'`;
      return Number(row?.count ?? 0);
    };
    await until(async () => (await told()) === 4, { what: "every effect to be taken", timeoutMs: 20_000 });
    proxy.accept();
    const replies = () => redis.xlen(runtimeKeys(stores.prefix, 1).wake("caller"));
    await until(async () => (await replies()) >= 4, { what: "the replies to go", timeoutMs: 20_000 });
    const waiting = async () => (await stores.sql`select 1 from runtime_outbox`).length;
    await until(async () => (await waiting()) === 0, { what: "the outbox to be empty", timeoutMs: 20_000 });
  } finally {
    proxy.close();
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
