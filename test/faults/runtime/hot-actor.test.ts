/** An actor with a long line in its mailbox, beside others of its partition (src/runtime/README.md, "By turns of tenants"). */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { Cluster } from "../cluster.ts";
import { deadly } from "../deadly.ts";

setDefaultTimeout(120_000);

let stores: TestStores;
let cluster: Cluster;

beforeEach(async () => {
  stores = await freshStores();
  cluster = new Cluster(stores, { partitions: 1 });
});

afterEach(async () => {
  await cluster.killAll();
  await stores.dispose();
});

/** Messages of the hot actor; each second one takes its turn a while. */
const many = process.env.SVC_LONG_TESTS === "1" ? 3000 : 500;
const strangers = 2;

async function countersOf(tenant: string): Promise<ReadonlyMap<string, { count: number; seen: readonly string[] }>> {
  const rows = await stores.sql<{ key: string; state: string }[]>`
    select key, state from runtime_actors where tenant = ${tenant}`;
  return new Map(rows.map(({ key, state }) => [key, JSON.parse(state)]));
}

const takenAhead = async () => (await stores.sql`select 1 from runtime_received_ahead`).length;

test("others are answered before a hot actor's line ends, and a death loses none", async () => {
  const node = await cluster.start();
  const seen = async () => (await countersOf("acme")).get("hot")?.seen ?? [];
  const labels = Array.from({ length: many }, (_, index) => (index % 2 === 0 ? deadly.time : `hot-${index}`));
  // Asked by the mailbox, so that all have numbers of one source.
  const hot = Promise.allSettled(labels.map((label) => node.ask("hot", "add", { label }, 120_000)));
  await until(async () => (await seen()).length > 0, { what: "the first of the line" });
  await node.measure("small", strangers, false);
  expect((await seen()).length).toBeLessThan(many);
  expect(await takenAhead()).toBeGreaterThan(0);
  await cluster.kill(node);
  await hot;
  const next = await cluster.start();
  await until(async () => (await seen()).length >= many, { what: "the whole line", timeoutMs: 90_000 });
  // Behind everything that waits.
  await next.ask("hot", "get", {});
  expect(await seen()).toEqual(labels);
  const others = [...(await countersOf("small")).values()];
  expect(others.map(({ count }) => count)).toEqual(Array.from({ length: strangers }, () => 1));
  expect(await takenAhead()).toBe(0);
});
