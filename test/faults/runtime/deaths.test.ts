/** Messages and work that end their process or their database backend are set aside; the others go on. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { texts } from "../../../src/store/postgres/array-literal.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { armBackends, deadly } from "../deadly.ts";
import { OwnStores } from "../own-stores.ts";
import { gateKey, runsKey } from "../protocol.ts";
import { ClusterHarness } from "./harness.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

const others = Array.from({ length: 30 }, (_, index) => `other-${index}`);
type Counter = { readonly seen: readonly string[]; readonly outcomes: readonly string[] } | null;

/** Starts nodes, one after the other, until one lives on. @returns it, and how many died */
async function survivorOf(cluster: Cluster, isOver: () => Promise<boolean>): Promise<[NodeProcess, deaths: number]> {
  for (let deaths = 0; ; ) {
    const node = await cluster.start().catch(() => null);
    if (node === null) {
      // One that did not start for another reason, on a busy machine, did not die of it.
      if ((await cluster.nodes.at(-1)?.end()) === "SIGKILL") deaths++;
      continue;
    }
    const ended = await Promise.race([node.end(), until(isOver, { timeoutMs: 20_000, what: "the end of it" })]);
    if (ended !== "SIGKILL") return [node, deaths];
    deaths++;
  }
}

describe("processes", () => {
  const at = new ClusterHarness();

  test("a message that ends its process is a dead letter after three deaths", async () => {
    const first = await at.cluster.start();
    await Promise.all([
      ...others.slice(0, 15).map((key) => first.tell(key, "add", { label: key })),
      first.tell("bad", "add", { label: deadly.process }).catch(() => {}),
      ...others.slice(15).map((key) => first.tell(key, "add", { label: key }).catch(() => {})),
    ]);
    expect(await first.end()).toBe("SIGKILL");
    const letters = () => at.stores.sql<{ key: string; error: string }[]>`select key, error from runtime_dead_letters`;
    const [node, deaths] = await survivorOf(at.cluster, async () => (await letters()).length > 0);
    expect([...(await letters())]).toEqual([{ key: "bad", error: expect.stringContaining("died 3 times") }]);
    expect(deaths).toBe(2);
    expect(await node.ask("bad", "add", { label: "later" })).toBe(1);
    for (const key of others.slice(0, 15)) expect(((await node.ask(key, "get", {})) as Counter)?.seen).toEqual([key]);
    await until(async () => [...(await at.stores.sql`select 1 from runtime_attempts`)].length === 0, {
      what: "the notes to go",
    });
  });

  test("a message that waited and ends its process is set aside alone", async () => {
    at.cluster = new Cluster(at.stores, { partitions: 1 });
    await at.cluster.kill(await at.cluster.start());
    const told = (key: string, label: string) =>
      JSON.stringify(["parked", 1, "counter", key, "acme", "add", ["gone", "1", 0], 0, 0, { label }]);
    const waiting = [...others.slice(0, 15), "bad", ...others.slice(15)];
    const contents = waiting.map((key) => told(key, key === "bad" ? deadly.process : key));
    await at.stores.sql`
      insert into runtime_parked (partition, kind, key, tenant, content)
      select 0, 'counter', key, 'acme', content
      from unnest(${texts(waiting)}::text[], ${texts(contents)}::text[]) with ordinality as u (key, content, place)
      order by place`;
    const letters = () => at.stores.sql<{ key: string }[]>`select key from runtime_dead_letters`;
    const isOver = async () => (await at.stores.sql`select 1 from runtime_parked`).length === 0;
    const [node] = await survivorOf(at.cluster, isOver);
    expect([...(await letters())]).toEqual([{ key: "bad" }]);
    for (const key of others) expect(((await node.ask(key, "get", {})) as Counter)?.seen).toEqual([key]);
  });

  test("work that ends its process fails after three deaths; other work goes on", async () => {
    const redis = openRedis(at.stores.redisServers ?? at.stores.redisUrl);
    const first = await at.cluster.start();
    for (const key of others.slice(0, 2)) await first.ask(key, "work", { activity: "gated", id: key, input: key });
    await first.tell("bad", "work", { activity: "deadly", id: "bad-work", input: 1 });
    expect(await first.end()).toBe("SIGKILL");
    const outcomes = async (key: string) => {
      const [row] = await at.stores.sql<{ state: string }[]>`select state from runtime_actors where key = ${key}`;
      return row === undefined ? [] : (JSON.parse(row.state) as { outcomes: readonly string[] }).outcomes;
    };
    const [node, deaths] = await survivorOf(at.cluster, async () => (await outcomes("bad")).length > 0);
    expect(await outcomes("bad")).toEqual(["bad-work:false"]);
    // A death counts within 2 s of the beginning, which is the insertion of the row: a slow machine may need another one.
    expect(deaths).toBeGreaterThanOrEqual(2);
    expect(deaths).toBeLessThanOrEqual(5);
    expect(await redis.lrange(runsKey(at.stores.prefix, "bad-work"), 0, -1)).toHaveLength(deaths + 1);
    await redis.set(gateKey(at.stores.prefix), "1");
    for (const key of others.slice(0, 2)) {
      await until(async () => (await outcomes(key)).join() === `${key}:true`, { what: `the outcome of ${key}` });
    }
    expect(((await node.ask("bad", "get", {})) as Counter)?.outcomes).toEqual(["bad-work:false"]);
    redis.disconnect();
  });
});

test("a message that ends its database backend is a dead letter; others lose nothing", async () => {
  const stores = await OwnStores.start();
  const fresh = await stores.fresh();
  await armBackends(fresh.sql);
  const cluster = new Cluster(fresh);
  const node = await cluster.start();
  await Promise.all([
    ...others.slice(0, 15).map((key) => node.tell(key, "add", { label: key })),
    node.tell("bad", "add", { label: deadly.backend }),
    ...others.slice(15).map((key) => node.tell(key, "add", { label: key })),
  ]);
  const letters = () =>
    fresh.sql<{ key: string; error: string }[]>`select key, error from runtime_dead_letters`.catch(() => []);
  await until(async () => (await letters()).length > 0, { what: "the dead letter", timeoutMs: 40_000 });
  expect([...(await letters())]).toEqual([{ key: "bad", error: expect.stringContaining("connection died") }]);
  for (const key of others) {
    await until(async () => ((await node.ask(key, "get", {}).catch(() => null)) as Counter)?.seen.join() === key, {
      what: `what ${key} was told`,
    });
  }
  // The commit of a large state is written beside others, which die with it.
  await node.ask("large", "add", { label: "x".repeat(200_000) });
  const beside = Array.from({ length: 30 }, (_, index) => `beside-${index}`);
  await node.tell("large", "add", { label: deadly.backend });
  for (const key of beside) await node.tell(key, "add", { label: key });
  await until(async () => (await letters()).length > 1, { what: "the second dead letter", timeoutMs: 40_000 });
  const large = await fresh.sql`select key, error, attempts from runtime_dead_letters where key <> 'bad'`;
  expect([...large]).toEqual([{ key: "large", error: expect.stringContaining("died 3 times"), attempts: 3 }]);
  for (const key of beside) {
    await until(async () => ((await node.ask(key, "get", {}).catch(() => null)) as Counter)?.seen.join() === key, {
      what: `what ${key} was told`,
    });
  }
  await cluster.killAll();
  await fresh.sql.end({ timeout: 2 });
  await stores.dispose();
});
