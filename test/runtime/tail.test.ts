/** Live tails: stored entries, then live ones, in order, none lost, none twice. */
import { expect, test } from "bun:test";
import type { LogEntry } from "../../src/runtime/index.ts";
import { partitionOf } from "../../src/runtime/mailbox/partition.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import { StoreProxy } from "../faults/proxy.ts";
import type { TestNode, TestRuntime } from "../harness/runtime/runtime.ts";
import { until } from "../harness/until.ts";
import { at, Harness, manyKeys } from "./harness.ts";

const harness = new Harness();

interface Followed {
  readonly entries: LogEntry[];
  ended: number;
  stop(): void;
}

function follow(runtime: TestRuntime, key: string, after = 0): Followed {
  const followed: Followed = { entries: [], ended: 0, stop: () => {} };
  followed.stop = runtime.tail(at(key), after, (entries, ended) => {
    if (followed.ended > 0) throw new Error("nothing may follow the end");
    followed.entries.push(...entries);
    if (ended) followed.ended++;
  });
  return followed;
}

const notes = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => ({ seq: from + index, entry: { note: String(from + index) } }));

async function note(runtime: TestRuntime, key: string, count: number, from = 1): Promise<void> {
  await Promise.all(notes(count, from).map(({ entry }) => runtime.tell(at(key), "note", { text: entry.note })));
}

/** Exactly the entries from `from` to `last`. */
async function complete(followed: Followed, last: number, from = 1): Promise<void> {
  await until(() => followed.entries.at(-1)?.seq === last, { what: `entry ${last}` });
  expect(followed.entries.map(({ seq, entry }) => ({ seq, entry }))).toEqual(notes(last - from + 1, from) as never);
}

test("backlog first, then live entries, on either node, from any place", async () => {
  const nodes = await harness.pair();
  for (const key of manyKeys.slice(0, 3)) {
    await note(nodes[0].runtime, key, 700);
    await until(async () => (await nodes[0].runtime.log(at(key), "events", 699, 1)).length === 1);
    const all = nodes.map(({ runtime }) => follow(runtime, key));
    const some = nodes.map(({ runtime }) => follow(runtime, key, 650));
    await note(nodes[0].runtime, key, 100, 701);
    for (const followed of all) await complete(followed, 800);
    for (const followed of some) await complete(followed, 800, 651);
    for (const { stop } of [...all, ...some]) stop();
  }
  expect(nodes.map(({ runtime }) => runtime.counts().tails)).toEqual([0, 0]);
});

test("nothing is published without a listener", async () => {
  const { runtime } = await harness.node();
  const published: string[] = [];
  // A subscriber by pattern gets all channels and does not count as a listener of one.
  const observer = openRedis(harness.stores.redisUrl);
  observer.on("pmessage", (_pattern: string, _channel: string, text: string) => published.push(text));
  await observer.psubscribe(`${harness.stores.prefix}:tail:*`);
  await runtime.ask(at("alone"), "add", {});
  await note(runtime, "alone", 3);
  await until(async () => (await runtime.log(at("alone"), "events", 0, 10)).length === 3);
  const heard = follow(runtime, "heard");
  await note(runtime, "heard", 2);
  await complete(heard, 2);
  await note(runtime, "heard", 1, 3);
  await until(() => published.some((text) => text.includes('"3"')), { what: "a notice of the third" });
  observer.disconnect();
  heard.stop();
  expect(published.filter((text) => text.includes('"alone"'))).toEqual([]);
});

test("followers that start in the middle of the stream miss nothing", async () => {
  const nodes = await harness.pair();
  const followers: Followed[] = [];
  const writing = (async () => {
    for (let first = 1; first <= 600; first += 20) {
      await note(nodes[0].runtime, "a", 20, first);
      for (const { runtime } of nodes) followers.push(follow(runtime, "a"), follow(runtime, "a"));
    }
  })();
  await writing;
  for (const followed of followers) await complete(followed, 600);
});

test("two followers of one partition both hear what is committed at that moment", async () => {
  const nodes = await harness.pair();
  for (let round = 0; round < 30; round++) {
    const key = `round-${round}`;
    const followers = nodes.flatMap(({ runtime }) => [follow(runtime, key), follow(runtime, key)]);
    await nodes[round % 2]?.runtime.ask(at(key), "note", { text: "1" });
    for (const followed of followers) await complete(followed, 1);
    for (const { stop } of followers) stop();
  }
});

test("a follower goes on when the partition changes hands", async () => {
  const watcher = await harness.node();
  const other = await harness.node();
  await until(async () => (await other.runtime.status()).partitions === 4);
  const followers = manyKeys.map((key) => follow(watcher.runtime, key));
  await Promise.all(manyKeys.map((key) => note(watcher.runtime, key, 30)));
  await harness.stop(other);
  await Promise.all(manyKeys.map((key) => note(watcher.runtime, key, 30, 31)));
  await harness.node();
  await Promise.all(manyKeys.map((key) => note(watcher.runtime, key, 30, 61)));
  for (const followed of followers) await complete(followed, 90);
});

test("an actor that ends tells its followers, its last entries first", async () => {
  const nodes = await harness.pair();
  for (const key of manyKeys.slice(0, 4)) {
    const followers = nodes.map(({ runtime }) => follow(runtime, key));
    await Promise.all([note(nodes[0].runtime, key, 3), nodes[0].runtime.ask(at(key), "end", {})]);
    for (const followed of followers) await until(() => followed.ended === 1, { what: "the end" });
    expect(await nodes[0].runtime.read(at(key))).toBeNull();
    expect(await nodes[0].runtime.log(at(key), "events", 0, 10)).toEqual([]);
  }
  expect(nodes.map(({ runtime }) => runtime.counts().tails)).toEqual([0, 0]);
});

test("an end whose notice was lost is noticed at the takeover", async () => {
  const { runtime } = await harness.node({ partitions: 1 });
  const followed = follow(runtime, "a");
  await runtime.ask(at("a"), "note", { text: "1" });
  await complete(followed, 1);
  // As a node leaves it that died between commit and notice.
  await harness.stores.sql`delete from runtime_actors`;
  await harness.stores.sql`delete from runtime_logs`;
  const redis = openRedis(harness.stores.redisUrl);
  await redis.publish(`${harness.stores.prefix}:tail:0`, JSON.stringify(["another-node"]));
  await until(() => followed.ended === 1, { what: "the end" });
  redis.disconnect();
});

/** A node that writes, one that follows by way of a proxy to Redis, and a key whose actor lives on the writing one. */
async function apart(): Promise<{ writer: TestRuntime; reader: TestNode; key: string; proxy: StoreProxy }> {
  const writer = await harness.node();
  const proxy = await StoreProxy.to(harness.stores.redisUrl);
  const reader = await harness.node({}, { redisUrl: proxy.url });
  await until(async () => (await reader.runtime.status()).partitions === 4, { what: "two fair shares" });
  const rows = await harness.stores.sql<{ partition: number }[]>`
    select partition from runtime_partitions where owner = ${writer.runtime.nodeId}`;
  const owned = new Set(rows.map(({ partition }) => partition));
  const key = manyKeys.find((one) => owned.has(partitionOf("counter", one, 8))) ?? "";
  return { writer: writer.runtime, reader, key, proxy };
}

test("what was published while a follower's node was without Redis is caught up with", async () => {
  const { writer, reader, key, proxy } = await apart();
  const followed = follow(reader.runtime, key);
  await writer.ask(at(key), "note", { text: "1" });
  await complete(followed, 1);
  proxy.refuse();
  await writer.ask(at(key), "note", { text: "2" });
  proxy.accept();
  await complete(followed, 2);
  await harness.stop(reader);
  proxy.close();
});

test("a second follower waits for the subscription of the first", async () => {
  const { writer, reader, key, proxy } = await apart();
  proxy.hold();
  const followers = [follow(reader.runtime, key), follow(reader.runtime, key)];
  // A follower that reads too early has read after these.
  for (let turn = 0; turn < 20; turn++) await reader.runtime.log(at(key), "events", 0, 1);
  await writer.ask(at(key), "note", { text: "1" });
  // Behind the notice on the writer's way to Redis: by now no subscriber was there to get it.
  await writer.ask(at(key), "get", {});
  proxy.release();
  for (const followed of followers) await complete(followed, 1);
  await harness.stop(reader);
  proxy.close();
});
