/** The stores go away and come back under load: nodes recover by themselves, nothing is lost or doubled. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Sql } from "../../../src/store/postgres/pool.ts";
import { until } from "../../harness/until.ts";
import { Cluster, type NodeProcess } from "../cluster.ts";
import { Load } from "../load.ts";
import { OwnStores } from "../own-stores.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

let stores: OwnStores;
let sql: Sql;
let cluster: Cluster;
let nodes: readonly NodeProcess[];

beforeAll(async () => {
  stores = await OwnStores.start();
});

afterAll(() => stores.dispose());

beforeEach(async () => {
  const fresh = await stores.fresh();
  sql = fresh.sql;
  cluster = new Cluster(fresh);
  nodes = await Promise.all([cluster.start(), cluster.start()]);
});

afterEach(async () => {
  await cluster.killAll();
  await sql.end({ timeout: 2 });
});

/** Every node says so of itself. */
async function all(what: "database" | "redis" | "consuming", value: boolean): Promise<void> {
  await until(
    async () => (await Promise.all(nodes.map((node) => node.status()))).every((status) => status[what] === value),
    {
      what: `every node to say ${what}: ${value}`,
      timeoutMs: 25_000,
    },
  );
}

test("Redis killed and started again", async () => {
  const load = new Load(cluster, sql);
  await load.more(150);
  await stores.withoutRedis(() => all("redis", false));
  await all("redis", true);
  await load.more(150);
  await load.settle();
  await all("consuming", true);
});

test.each(["SIGINT", "SIGKILL"] as const)("PostgreSQL ended by %s and started again", async (signal) => {
  const load = new Load(cluster, sql);
  await load.more(150);
  await stores.withoutPostgres(signal, async () => {
    await all("database", false);
    // The mailboxes take messages all the same.
    await load.more(20);
  });
  await all("database", true);
  await load.more(150);
  await load.settle();
  await all("consuming", true);
  expect(
    (await Promise.all(nodes.map((node) => node.status()))).reduce((sum, { partitions }) => sum + partitions, 0),
  ).toBe(8);
});
