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
const many = 800;
const strangers = 8;

async function seenBy(key: string): Promise<readonly string[]> {
  const [row] = await stores.sql<{ state: string }[]>`select state from runtime_actors where key = ${key}`;
  return row === undefined ? [] : (JSON.parse(row.state) as { seen: readonly string[] }).seen;
}

test("others are answered before a hot actor's line ends, and a death loses none", async () => {
  const node = await cluster.start();
  // Asked by the mailbox, so that all have numbers of one source.
  const ask = (key: string, label: string) => node.ask(key, "add", { label }, 120_000);
  const labels = Array.from({ length: many }, (_, index) => (index % 2 === 0 ? deadly.time : `hot-${index}`));
  const hot = Promise.allSettled(labels.map((label) => ask("hot", label)));
  await until(async () => (await seenBy("hot")).length > 0, { what: "the first of the line" });
  await node.measure("small", strangers, false);
  expect((await seenBy("hot")).length).toBeLessThan(many / 2);
  const others = Promise.allSettled(Array.from({ length: strangers }, (_, index) => ask(`other-${index}`, "once")));
  await until(async () => [...(await stores.sql`select 1 from runtime_received_ahead`)].length > 0, {
    what: "messages that were taken out of turn",
  });
  await cluster.kill(node);
  await Promise.all([hot, others]);
  const next = await cluster.start();
  await until(async () => (await seenBy("hot")).length === many, { what: "the whole line", timeoutMs: 60_000 });
  expect(await seenBy("hot")).toEqual(labels);
  for (let index = 0; index < strangers; index++) {
    await until(async () => (await seenBy(`other-${index}`)).length > 0, { what: `the message of ${index}` });
  }
  // Behind everything that waits.
  await next.ask("hot", "get", {});
  for (let index = 0; index < strangers; index++) expect(await seenBy(`other-${index}`)).toEqual(["once"]);
  await until(async () => [...(await stores.sql`select 1 from runtime_received_ahead`)].length === 0, {
    what: "the notes to go",
  });
});
