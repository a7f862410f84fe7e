/** kill -9 of a node at each named point, in the middle of load, with another node on the same stores (G1–G4). */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { CrashPoint } from "../../../src/runtime/index.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { until } from "../../harness/until.ts";
import { gateKey, runsKey } from "../protocol.ts";
import { ClusterHarness } from "./harness.ts";

// Processes and stores that start, die and wait for leases, on a busy machine.
setDefaultTimeout(60_000);

const at = new ClusterHarness();

const points: readonly [CrashPoint, nth: number][] = [
  ["after_append", 60],
  ["before_commit", 15],
  ["after_commit", 15],
  ["after_publish", 15],
  ["in_activity", 8],
];

test.each([...points])("a node killed %s loses nothing and doubles nothing", async (point, nth) => {
  const [victim] = await Promise.all([at.cluster.start({ crash: { point, nth } }), at.cluster.start()]);
  const load = at.load();
  expect(await victim.end()).toBe("SIGKILL");
  await load.more(150);
  await load.settle();
});

const spreadTo = Array.from({ length: 10 }, (_, index) => `target-${index}`);

test.each(["after_commit", "after_publish"] as const)(
  "a node killed %s of its very first turn: the turn's effects happen once",
  async (point) => {
    const victim = await at.cluster.start({ crash: { point, nth: 1 } });
    await victim.tell("hub", "spread", { to: spreadTo, label: "spread" }).catch(() => {});
    expect(await victim.end()).toBe("SIGKILL");
    const next = await at.cluster.start();
    for (const key of spreadTo) {
      await until(async () => (await next.ask(key, "get", {})) !== null, { what: `the message to ${key}` });
      expect(await next.ask(key, "add", { label: "later" })).toBe(2);
      expect(await next.ask(key, "get", {})).toMatchObject({ seen: ["spread", "later"] });
    }
  },
);

test("work whose node was killed before it began is begun by another", async () => {
  const victim = await at.cluster.start({ crash: { point: "after_commit", nth: 1 } });
  await victim.tell("worker", "work", { activity: "echo", id: "work", input: 1 }).catch(() => {});
  expect(await victim.end()).toBe("SIGKILL");
  const next = await at.cluster.start();
  await until(
    async () => ((await next.ask("worker", "get", {})) as { outcomes: string[] }).outcomes.join() === "work:true",
    { what: "the outcome" },
  );
});

test("partitions of a node killed at_handover are taken; one that returns gets a share", async () => {
  const victim = await at.cluster.start({ crash: { point: "at_handover", nth: 1 } });
  const load = at.load();
  await load.more(100);
  const survivor = await at.cluster.start();
  expect(await victim.end()).toBe("SIGKILL");
  await until(async () => (await survivor.status()).partitions === 8, { what: "the survivor to hold everything" });
  await load.more(100);
  const back = await at.cluster.start();
  await until(async () => (await back.status()).partitions === 4, {
    what: "the node that came back to have its share",
  });
  await load.more(100);
  await load.settle();
});

test("every node killed after messages were accepted: the next one processes them", async () => {
  const first = await at.cluster.start();
  const second = await at.cluster.start();
  const load = at.load();
  await load.more(150);
  await Promise.all([at.cluster.kill(first), at.cluster.kill(second)]);
  await at.cluster.start();
  await load.more(50);
  await load.settle();
});

test("work of a killed node resumes elsewhere under its id and has one outcome", async () => {
  const redis = openRedis(at.stores.redisServers ?? at.stores.redisUrl);
  const [victim, survivor] = await at.pair();
  const ids = Array.from({ length: 8 }, (_, index) => `work-${index}`);
  // Spread over the partitions, so that both nodes get some.
  for (const id of ids) await survivor.ask(id, "work", { activity: "gated", id, input: id });
  const runs = () => Promise.all(ids.map((id) => redis.lrange(runsKey(at.stores.prefix, id), 0, -1)));
  await until(async () => (await runs()).every((attempts) => attempts.length === 1), {
    what: "all work to be under way",
  });
  await at.cluster.kill(victim);
  const lost = (await runs()).flat().filter((line) => line.startsWith(victim.nodeId)).length;
  expect(lost).toBeGreaterThan(0);
  await until(async () => (await runs()).flat().length === ids.length + lost, { what: "the lost work to be resumed" });
  await redis.set(gateKey(at.stores.prefix), "1");
  for (const id of ids) {
    await until(
      async () =>
        ((await survivor.ask(id, "get", {})) as { outcomes: string[] } | null)?.outcomes.join() === `${id}:true`,
      { what: `the outcome of ${id}` },
    );
  }
  for (const attempts of await runs()) {
    const [first, second] = attempts;
    if (first?.startsWith(victim.nodeId) !== true) expect(attempts).toEqual([`${survivor.nodeId} 1 false`]);
    else expect(second).toBe(`${survivor.nodeId} 1 true`);
  }
  expect([...(await at.stores.sql`select id from runtime_activities`)]).toEqual([]);
  redis.disconnect();
});
