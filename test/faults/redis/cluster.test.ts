/**
 * Nodes on a real Redis Cluster of three masters and three replicas: masters fail over, slots move, nodes die under load;
 * nothing is lost or doubled.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { Lineage } from "../../../src/runtime/mailbox/lineage.ts";
import { partitionOf, runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { defineQueue, openQueue } from "../../../src/store/queues.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { clusterSlotGroups, groupTag } from "../../../src/store/redis/servers.ts";
import { RedisCluster } from "../../harness/redis/cluster.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";

// Six servers and the nodes start, die and wait for leases, on a busy machine.
setDefaultTimeout(90_000);

const partitions = 24;

let redis: RedisCluster;
let stores: TestStores;
let cluster: Cluster;
let nodes: [NodeProcess, NodeProcess];

beforeAll(async () => {
  redis = await RedisCluster.start();
});

afterAll(() => redis?.dispose());

beforeEach(async () => {
  stores = await freshStores();
  cluster = new Cluster({ ...stores, redisServers: redis.servers }, { partitions });
  nodes = await Promise.all([cluster.start(), cluster.start()]);
});

afterEach(async () => {
  await cluster.killAll();
  await stores.dispose();
  const errors = await redis.errors();
  expect([...errors.keys()].filter((name) => name === "CROSSSLOT")).toEqual([]);
});

const mailbox = (partition: number) => runtimeKeys(stores.prefix, clusterSlotGroups).mailbox(partition);

test("nodes killed, frozen and drained", async () => {
  const load = new Load(cluster, stores.sql);
  await load.more(100);
  await cluster.kill(nodes[0]);
  await load.more(50);
  const third = await cluster.start();
  await load.more(50);
  cluster.freeze(third);
  await load.more(50);
  cluster.thaw(third);
  await load.more(50);
  expect(await cluster.drain(nodes[1])).toBe(0);
  await load.more(50);
  await load.settle();
});

test("a master killed, its replica takes its slots, of mailboxes and of a queue", async () => {
  // A queue whose keys lie with these mailboxes.
  const prefix = groupTag(3).slice(1, -1);
  const queue = openQueue(defineQueue<number>("jobs"), { redisServers: redis.servers, prefix });
  const done = new Set<number>();
  queue.work(4, async (job) => {
    done.add(job);
  });
  await queue.queue.add("one", 1);
  const load = new Load(cluster, stores.sql);
  await load.more(150);
  const killed = await redis.failOverFrom(mailbox(3), "kill");
  await load.more(150);
  await queue.queue.add("one", 2);
  await until(() => done.size === 2, { what: "a job after the fail-over", timeoutMs: 30_000 });
  await queue.close();
  await killed.start();
  await redis.settled();
  await load.more(50);
  await load.settle();
});

test("a master killed right after the first look at the Cluster: that is noticed", async () => {
  const connection = openRedis(redis.servers);
  let losses = 0;
  const lineage = new Lineage({
    redis: connection,
    keys: Array.from({ length: clusterSlotGroups }, (_, group) => `${groupTag(group)}looked`),
    newId: () => Bun.randomUUIDv7(),
    lost: () => {
      losses++;
    },
  });
  try {
    await lineage.start();
    const killed = await redis.failOverFrom(mailbox(3), "kill");
    await until(() => losses > 0, { what: "the fail-over to be noticed", timeoutMs: 20_000 });
    await killed.start();
    await redis.settled();
  } finally {
    lineage.stop();
    connection.disconnect();
  }
});

test("the slot of a group of mailboxes moved to another master", async () => {
  const load = new Load(cluster, stores.sql);
  await load.more(100);
  // Between two keys of the slot: some mailboxes of the group are here, some there.
  const moved = await redis.moveSlotOf(mailbox(5), () => load.more(20));
  expect(moved).toBeGreaterThan(1);
  await load.more(100);
  await load.settle();
});

test("a master frozen, its replica takes its slots, and it comes back as a replica", async () => {
  const load = new Load(cluster, stores.sql);
  await load.more(150);
  const frozen = await redis.failOverFrom(mailbox(9), "freeze");
  await load.more(150);
  frozen.thaw();
  await redis.settled();
  await load.more(50);
  await load.settle();
});

test("a replica without the last writes takes over under load", async () => {
  const load = new Load(cluster, stores.sql);
  await load.more(150);
  await redis.failOverLosing(mailbox(4), () => load.more(100));
  await load.more(150);
  await load.settle();
});

test("messages of turns that the new master lacks are sent again from PostgreSQL", async () => {
  await cluster.killAll();
  // The receiver is to keep its partitions while it is frozen.
  cluster = new Cluster({ ...stores, redisServers: redis.servers }, { partitions, leaseTtlMs: 20_000 });
  const [sender, receiver] = await Promise.all([cluster.start(), cluster.start()]);
  const owners = await until(
    async () => {
      const rows = await stores.sql<{ partition: number; owner: string }[]>`
        select partition, owner from runtime_partitions`;
      const count = (node: NodeProcess) => rows.filter(({ owner }) => owner === node.nodeId).length;
      return count(sender) === partitions / 2 && count(receiver) === partitions / 2
        ? new Map(rows.map(({ partition, owner }) => [partition, owner]))
        : null;
    },
    { what: "two fair shares", timeoutMs: 30_000 },
  );
  const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`);
  const ofKey = (key: string) => partitionOf("counter", key, partitions);
  const hub = keys.find((key) => owners.get(ofKey(key)) === sender.nodeId) ?? "";
  const [target = 0] = [...owners].find(([, owner]) => owner === receiver.nodeId) ?? [];
  const targets = keys.filter((key) => ofKey(key) === target);
  expect(targets.length).toBeGreaterThan(3);
  expect(await sender.ask(hub, "add", {})).toBe(1);
  const connection = openRedis(redis.servers);
  cluster.freeze(receiver);
  const lost = await redis.failOverLosing(mailbox(target), async () => {
    expect(await sender.ask(hub, "spread", { to: targets, label: "spread" })).toBe(targets.length);
    await until(async () => (await connection.xlen(mailbox(target))) >= targets.length, {
      what: "the messages in the mailbox",
    });
    // Neither remembers anything.
    await cluster.killAll();
  });
  expect(lost).toBeGreaterThan(0);
  expect(await connection.xlen(mailbox(target))).toBe(0);
  connection.disconnect();
  const next = await cluster.start();
  for (const key of targets) {
    await until(async () => (await next.ask(key, "get", {})) !== null, { what: `the message to ${key}` });
    expect(await next.ask(key, "add", { label: "later" })).toBe(2);
    expect(await next.ask(key, "get", {})).toMatchObject({ seen: ["spread", "later"] });
  }
});
