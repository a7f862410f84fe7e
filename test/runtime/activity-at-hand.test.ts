/** Outcomes that are handed over in memory. */
import { expect, test } from "bun:test";
import { runtimeKeys } from "../../src/runtime/mailbox/partition.ts";
import { openRedis } from "../../src/store/redis/connections.ts";
import type { TestRuntime } from "../harness/runtime/runtime.ts";
import { until } from "../harness/until.ts";
import { activity, at, gate, Harness, manyKeys, stateOf } from "./harness.ts";

const harness = new Harness();

const perform = (runtime: TestRuntime, key: string, name: string, id: string) =>
  runtime.ask(at(key), "work", { activity: name, id, input: id });

const outcome = (runtime: TestRuntime, key: string) =>
  until(async () => (await stateOf(runtime, key))?.outcomes.at(-1), { what: `the outcome for ${key}` });

const remaining = () => harness.stores.sql`select id from runtime_activities`.then((rows) => rows.map(({ id }) => id));

test("an outcome at hand is committed without the mailbox, others come by it", async () => {
  const { runtime } = await harness.node({
    partitions: 1,
    activities: [activity("near", async () => "near", { atHand: true }), activity("far", async () => "far")],
  });
  const redis = openRedis(harness.stores.redisUrl);
  const appended = async () => {
    const info = (await redis
      .xinfo("STREAM", runtimeKeys(harness.stores.prefix).mailbox(0))
      .catch(() => [])) as readonly unknown[];
    return Number(info[info.indexOf("entries-added") + 1] ?? 0);
  };
  try {
    await perform(runtime, "a", "near", "1");
    expect(await outcome(runtime, "a")).toBe("1:true");
    // The question alone.
    expect(await appended()).toBe(1);
    await perform(runtime, "b", "far", "2");
    expect(await outcome(runtime, "b")).toBe("2:true");
    expect(await appended()).toBe(3);
    expect(await remaining()).toEqual([]);
  } finally {
    await redis.quit();
  }
});

test("an outcome at hand reaches an actor that moved to another node meanwhile", async () => {
  const door = gate();
  const near = () => activity("near", async () => (await door.passed) ?? null, { atHand: true, concurrency: 64 });
  const { runtime } = await harness.node({ activities: [near()] });
  for (const key of manyKeys) await perform(runtime, key, "near", key);
  const other = await harness.node({ activities: [near()] });
  await until(async () => (await other.runtime.status()).partitions === 4, { what: "half of the partitions there" });
  door.open(undefined);
  for (const key of manyKeys) expect(await outcome(other.runtime, key)).toBe(`${key}:true`);
  await until(async () => (await remaining()).length === 0, { what: "all rows gone" });
});
