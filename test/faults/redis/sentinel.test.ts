/** Nodes that find their Redis by Sentinel: the primary is killed under load and its replica takes over; nothing is lost or doubled. */
import { afterAll, afterEach, beforeAll, beforeEach, setDefaultTimeout, test } from "bun:test";
import { SentinelRedis } from "../../harness/redis/sentinel.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { Cluster } from "../cluster.ts";
import { Load } from "../load.ts";

// Servers and nodes start and die, and Sentinels agree, on a busy machine.
setDefaultTimeout(90_000);

let redis: SentinelRedis;
let stores: TestStores;
let cluster: Cluster;

beforeAll(async () => {
  redis = await SentinelRedis.start();
});

afterAll(() => redis?.dispose());

beforeEach(async () => {
  stores = await freshStores();
  cluster = new Cluster({ ...stores, redisServers: redis.servers });
  await Promise.all([cluster.start(), cluster.start()]);
});

afterEach(async () => {
  await cluster.killAll();
  await stores.dispose();
});

test("the primary killed", async () => {
  const load = new Load(cluster, stores.sql);
  await load.more(150);
  const killed = await redis.killPrimary();
  await load.more(150);
  // It comes back as a primary of its own, until the Sentinels make it a replica.
  await killed.start();
  await load.more(150);
  await load.settle();
});

// The Sentinels take their time until the first primary is a replica.
test.if(process.env.SVC_LONG_TESTS === "1")("primaries killed one after the other", async () => {
  const load = new Load(cluster, stores.sql);
  for (let round = 0; round < 3; round++) {
    await redis.followed();
    await load.more(50);
    const killed = await redis.killPrimary();
    await load.more(150);
    await killed.start();
  }
  await load.settle();
});
