/** Nodes that lose their partitions without knowing it cannot commit (G2), and commits whose end is unknown count once (G3). */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { redisKind } from "../../harness/redis/kind.ts";
import { until } from "../../harness/until.ts";
import type { NodeProcess } from "../cluster.ts";
import { StoreProxy } from "../proxy.ts";
import { ClusterHarness } from "./harness.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

const at = new ClusterHarness();
const proxies: StoreProxy[] = [];

afterEach(() => {
  for (const proxy of proxies.splice(0)) proxy.close();
});

async function proxyTo(url: string): Promise<StoreProxy> {
  const proxy = await StoreProxy.to(url);
  proxies.push(proxy);
  return proxy;
}

/**
 * Holds a commit of the actor "a" back on its way. One whose lane waited for another answer, or whose connection had yet
 * to prepare its statement, is not on its way: it is let go, and the next one is held.
 * @returns what "a" was told, the held message last
 */
async function holdCommit(node: NodeProcess, database: StoreProxy): Promise<readonly string[]> {
  for (const told: string[] = []; ; ) {
    const label = `late ${told.length}`;
    told.push(label);
    database.hold();
    await node.tell("a", "add", { label });
    const held = until(() => database.holds(label), { timeoutMs: 1_000, what: "the commit to be on its way" });
    if (await held.catch(() => false)) return told;
    database.release();
    await node.ask("warm", "add", { label: "again" });
  }
}

test("a node frozen past its lease loses its partitions and then changes nothing", async () => {
  const [frozen, other] = await at.pair();
  const load = at.load();
  await load.more(150);
  at.cluster.freeze(frozen);
  await until(async () => (await other.status()).partitions === 8, { what: "the other node to take over" });
  await load.more(150);
  at.cluster.thaw(frozen);
  await until(async () => (await frozen.status()).partitions === 4, { what: "the thawed node to get its share again" });
  await load.more(150);
  await load.settle();
});

test("a commit that reaches PostgreSQL after the partition was taken over is refused", async () => {
  const database = await proxyTo(at.stores.databaseUrl);
  // Servers that name one another cannot be put behind a proxy: the slow node then hears of the other one.
  const redis = redisKind === "single" ? await proxyTo(at.stores.redisUrl) : null;
  const slow = await at.cluster.start({
    stores: { ...at.stores, databaseUrl: database.url, ...(redis === null ? {} : { redisUrl: redis.url }) },
  });
  const committed = async () => {
    const [row] = await at.stores.sql<{ state: string }[]>`select state from runtime_actors where key = 'a'`;
    return (JSON.parse(row?.state ?? "null") as { seen: string[] } | null)?.seen;
  };
  expect(await slow.ask("a", "add", { label: "first" })).toBe(1);
  // Each connection prepares the statement of such a commit: then its values go out with it, not after an answer.
  await Promise.all(Array.from({ length: 60 }, (_, index) => slow.tell(`w${index}`, "add", { label: "warm" })));
  for (let index = 0; index < 20; index++) await slow.ask("warm", "add", { label: String(index) });
  // The slow node's next commit stays on its way, and it hears of nothing that comes after.
  const told = await holdCommit(slow, database);
  redis?.hold();
  const other = await at.cluster.start();
  await until(async () => (await other.status()).partitions === 8, { what: "the other node to take over" });
  expect(await other.ask("a", "add", { label: "after" })).toBe(told.length + 2);
  database.release();
  await until(async () => (await slow.status()).partitions < 8, { what: "the slow node to notice" });
  expect(await committed()).toEqual(["first", ...told, "after"]);
  redis?.release();
  await until(async () => (await slow.status()).partitions === 4, { what: "the slow node to get a share again" });
  expect(await slow.ask("a", "add", { label: "last" })).toBe(told.length + 3);
  expect(await committed()).toEqual(["first", ...told, "after", "last"]);
});

test("a commit that arrives after its own node started over is refused", async () => {
  const database = await proxyTo(at.stores.databaseUrl);
  const node = await at.cluster.start({ stores: { ...at.stores, databaseUrl: database.url } });
  expect(await node.ask("a", "add", { label: "first" })).toBe(1);
  // Each connection prepares the statement of such a commit: then its values go out with it, not after an answer.
  await Promise.all(Array.from({ length: 60 }, (_, index) => node.tell(`w${index}`, "add", { label: "warm" })));
  for (let index = 0; index < 20; index++) await node.ask("warm", "add", { label: String(index) });
  const told = await holdCommit(node, database);
  await database.strand();
  expect(await node.ask("a", "add", { label: "after" })).toBe(told.length + 2);
  database.release();
  expect(await node.ask("b", "add", { label: "other" })).toBe(1);
  await until(() => database.stranded === 0, { what: "the late commit to be over" });
  const [row] = await at.stores.sql<{ state: string }[]>`select state from runtime_actors where key = 'a'`;
  expect(JSON.parse(row?.state ?? "null")).toMatchObject({ seen: ["first", ...told, "after"] });
});

test("commits whose answer is lost count once", async () => {
  const database = await proxyTo(at.stores.databaseUrl);
  const node = await at.cluster.start({ stores: { ...at.stores, databaseUrl: database.url } });
  const load = at.load();
  for (let round = 0; round < 10; round++) {
    await load.more(40);
    await database.cutBeforeAnswer();
  }
  await load.more(40);
  await load.settle();
  expect((await node.status()).partitions).toBe(8);
});

test.if(redisKind === "single")("messages whose acceptance is not heard of are sent again and count once", async () => {
  const redis = await proxyTo(at.stores.redisUrl);
  await at.cluster.start({ stores: { ...at.stores, redisUrl: redis.url } });
  const load = at.load();
  for (let round = 0; round < 10; round++) {
    await load.more(40);
    await redis.cutBeforeAnswer();
  }
  await load.more(40);
  await load.settle();
});
