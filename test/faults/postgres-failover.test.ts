/** PostgreSQL fails over: the primary is killed under load and its standby promoted, on real servers. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { partitionOf } from "../../src/runtime/mailbox/partition.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { Cluster, type NodeProcess } from "./cluster.ts";
import { Load } from "./load.ts";
import { PostgresPair } from "./postgres-pair.ts";

setDefaultTimeout(60_000);

let stores: TestStores;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stores = await freshStores();
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

afterAll(async () => {
  await stores.dispose();
});

interface Stage {
  readonly pair: PostgresPair;
  readonly cluster: Cluster;
  readonly first: NodeProcess;
  readonly second: NodeProcess;
  /** Reads the standby. */
  readonly sql: Sql;
}

/** Two nodes with a fair share each, on a primary with a standby. */
async function stage(synchronous: boolean, leaseTtlMs: number): Promise<Stage> {
  const pair = await PostgresPair.start(synchronous);
  closing.push(() => pair.dispose());
  const schema = synchronous ? "synchronous" : "asynchronous";
  await pair.migrated(schema);
  const prefix = `${stores.prefix}_${schema}`;
  const address = { databaseUrl: pair.url, schema, redisUrl: stores.redisUrl, prefix, watched: true };
  const cluster = new Cluster(address, { leaseTtlMs });
  closing.push(() => cluster.killAll());
  const [first, second] = await Promise.all([cluster.start(), cluster.start()]);
  const shares = async () => (await Promise.all([first.status(), second.status()])).map((one) => one.partitions);
  await until(async () => (await shares()).every((one) => one === 4), { what: "two fair shares", timeoutMs: 20_000 });
  return { pair, cluster, first, second, sql: pair.open(schema, "standby") };
}

test("a synchronous standby promoted under load loses and doubles nothing accepted", async () => {
  const { pair, cluster, sql } = await stage(true, 1_500);
  const load = new Load(cluster, sql);
  await load.more(300);
  await pair.killPrimary();
  await pair.promote();
  await load.more(300);
  await load.settle();
  const [row] = await sql<[{ timeline: string }]>`select runtime_timeline() as timeline`;
  expect(Number.parseInt(row.timeline, 16)).toBe(2);
});

test("an asynchronous standby promoted lacks its missing commits and nothing else", async () => {
  const { pair, cluster, first, second, sql } = await stage(false, 10_000);
  const load = new Load(cluster, sql);
  await load.more(150);
  await load.settle();
  const kept = load.acceptedCount;
  await pair.stopReplication();
  const before = await load.found();

  // Commits that the standby never gets.
  load.resume();
  await load.more(150);
  await load.pause();
  const { own, others } = await keysOf(pair.open("asynchronous", "primary"), first);
  cluster.freeze(second);
  const relay = (label: string) =>
    Promise.all(
      own.map((key, index) => first.ask(key, "relay", { to: [others[index % others.length] ?? ""], label }, 20_000)),
    );
  // Their effects stand in mailboxes of the frozen node under numbers that are given again.
  for (let round = 0; round < 4; round++) await relay(`lost-${round}`);
  await pair.killPrimary();
  load.forgive(kept);
  expect(await load.found()).toEqual(before);
  await pair.promote();

  // By the first node's memory the lost turns have happened.
  const answered = await until(() => first.ask(own[0] ?? "", "add", { label: "after" }, 5_000), { timeoutMs: 20_000 });
  expect(answered).toBe((await counterOf(sql, own[0] ?? "")).count);
  for (let round = 0; round < 4; round++) await relay(`new-${round}`);
  cluster.thaw(second);
  await until(async () => (await first.status()).partitions + (await second.status()).partitions === 8, {
    what: "all partitions to be at work",
    timeoutMs: 20_000,
  });
  load.resume();
  await load.more(150);
  await load.settle();

  const wanted = own.flatMap((_, index) => [0, 1, 2, 3].map((round) => [index, `new-${round}`] as const));
  await until(
    async () => {
      const found = await Promise.all(
        wanted.map(async ([index]) => (await counterOf(sql, others[index % others.length] ?? "")).seen),
      );
      return wanted.every(([, label], at) => found[at]?.includes(label));
    },
    { what: "the effects of every later turn", everyMs: 100 },
  );
  for (const [index, key] of own.entries()) {
    const cause = await counterOf(sql, key);
    const target = await counterOf(sql, others[index % others.length] ?? "");
    expect(new Set(cause.seen).size).toBe(cause.seen.length);
    expect(new Set(target.seen).size).toBe(target.seen.length);
    // A turn whose message is still in the mailbox runs again, and then its effect is due as well.
    expect(target.seen.filter((label) => label !== "after" && !cause.seen.includes(label))).toEqual([]);
  }
});

/** Of counters in the partitions of a node, and of counters in those of other nodes: as many of each. */
async function keysOf(sql: Sql, node: NodeProcess): Promise<{ own: readonly string[]; others: readonly string[] }> {
  const rows = await sql<{ partition: number; owner: string }[]>`select partition, owner from runtime_partitions`;
  const owners = new Map(rows.map(({ partition, owner }) => [partition, owner]));
  const keys = Array.from({ length: 40 }, (_, index) => `relay-${index}`);
  const isOwn = (key: string) => owners.get(partitionOf("counter", key, rows.length)) === node.nodeId;
  const size = 6;
  return { own: keys.filter(isOwn).slice(0, size), others: keys.filter((key) => !isOwn(key)).slice(0, size) };
}

async function counterOf(sql: Sql, key: string): Promise<{ count: number; seen: readonly string[] }> {
  const [row] = await sql<{ state: string }[]>`select state from runtime_actors where key = ${key}`;
  return row === undefined ? { count: 0, seen: [] } : (JSON.parse(row.state) as { count: number; seen: string[] });
}
