/** Which owners of a partition count as deaths of a message that they had under way. */
import { expect, test } from "bun:test";
import { Careful } from "../../../../src/runtime/lane/containment/careful.ts";
import { PoisonMessages } from "../../../../src/runtime/lane/containment/poison.ts";
import { decodeEnvelope, messageId } from "../../../../src/runtime/mailbox/envelope.ts";
import { runtimeKeys } from "../../../../src/runtime/mailbox/partition.ts";
import type { Sql } from "../../../../src/store/postgres/pool.ts";
import { openRedis, type RedisClient, slotGroupsOf } from "../../../../src/store/redis/connections.ts";
import { until } from "../../../harness/until.ts";
import { at, Harness, stateOf } from "../../harness.ts";

const harness = new Harness();

/** Enters a node that nothing runs. @param heardOf how long ago, a part of SQL's interval; negative: it lives on */
async function enter(id: string, heardOf: string, like?: string): Promise<void> {
  await harness.stores.sql`
    insert into runtime_nodes (id, host, pid_scope, pid, heartbeat_at, acknowledges, capabilities, migration)
    select ${id}, 'elsewhere', 'elsewhere', 1, now() - ${heardOf}::interval, true,
      (select capabilities from runtime_nodes where id = ${like ?? ""}),
      (select migration from runtime_nodes where id = ${like ?? ""})`;
}

/** A node whose one partition another one has now, which does nothing. */
async function displaced(options: Parameters<Harness["node"]>[0] = {}) {
  const { sql } = harness.stores;
  const { runtime } = await harness.node({ partitions: 1, ...options });
  await enter("other", "-1 hour", runtime.nodeId);
  await sql`update runtime_partitions set owner = 'other', epoch = epoch + 1`;
  await until(async () => (await runtime.status()).partitions === 0, { what: "the partition to be given up" });
  return runtime;
}

/** Looks into the mailbox of the one partition, or adds to it. */
async function inMailbox<T>(work: (redis: RedisClient, key: string) => Promise<T>): Promise<T> {
  const { redisServers, redisUrl, prefix } = harness.stores;
  const redis = openRedis(redisServers ?? redisUrl);
  try {
    return await work(redis, runtimeKeys(prefix, slotGroupsOf(redis)).mailbox(0));
  } finally {
    redis.disconnect();
  }
}

type Fate = "ended" | "silent for long" | "alive";

test.each<[fates: readonly [Fate, Fate, Fate], isSetAside: boolean]>([
  [["ended", "ended", "ended"], true],
  [["silent for long", "ended", "silent for long"], true],
  [["alive", "alive", "alive"], false],
  [["ended", "ended", "alive"], false],
])("a message under way at owners that were %p is set aside: %p", async (fates, isSetAside) => {
  const { sql } = harness.stores;
  const runtime = await displaced();
  await runtime.tell(at("a"), "add", { label: "told" });
  const message = await inMailbox(async (redis, key) => {
    const [entry] = await redis.xrange(key, "-", "+");
    return messageId(decodeEnvelope(entry?.[1][1] ?? ""));
  });
  const owners = fates.map((fate, index) => `owner-${index} ${fate}`);
  await sql`insert into runtime_attempts (partition, message, attempt, nodes) values (0, ${message}, 3, ${owners})`;
  for (const owner of owners) {
    if (!owner.endsWith("ended")) await enter(owner, owner.endsWith("alive") ? "-1 hour" : "1 hour");
  }
  await sql`delete from runtime_nodes where id = 'other'`;
  const letters = () => runtime.deadLetters.list({});
  const taken = async () => (await stateOf(runtime, "a"))?.seen.join() === "told";
  await until(async () => (await taken()) || (await letters()).length > 0, { what: "the message to be decided" });
  expect((await letters()).map(({ error }) => error)).toEqual(
    isSetAside ? ["its process died 3 times while it was handled"] : [],
  );
});

test("a backlog of a dead owner that holds a message twice is taken in one piece", async () => {
  const { sql } = harness.stores;
  const failures: unknown[] = [];
  const runtime = await displaced({
    log: (event, details) => {
      if (event === "commit_failed") failures.push(details.error);
    },
  });
  await runtime.tell(at("a"), "add", { label: "told" });
  await inMailbox(async (redis, key) => {
    const [entry] = await redis.xrange(key, "-", "+");
    for (const text of [entry?.[1][1] ?? "", "not a message", "not a message"]) await redis.xadd(key, "*", "m", text);
  });
  await runtime.tell(at("a"), "add", { label: "after" });
  await sql`delete from runtime_nodes where id = 'other'`;
  await until(async () => (await stateOf(runtime, "a"))?.seen.at(-1) === "after", { what: "the backlog to be taken" });
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["told", "after"]);
  expect(failures).toEqual([]);
});

test("a node that was taken for dead and lives takes its name from the notes", async () => {
  const { sql } = harness.stores;
  const { runtime } = await harness.node({ partitions: 1 });
  await sql`
    insert into runtime_attempts (partition, message, attempt, nodes)
    values (0, 'any', 3, ${["ended", runtime.nodeId, "other"]})`;
  await enter("other", "-1 hour", runtime.nodeId);
  await sql`update runtime_partitions set owner = 'other', epoch = epoch + 1`;
  const named = async () => (await sql<{ nodes: string[] }[]>`select nodes from runtime_attempts`)[0]?.nodes;
  await until(async () => (await named())?.includes(runtime.nodeId) === false, { what: "the node to come back" });
  expect(await named()).toEqual(["ended", "other"]);
});

/** A connection whose every query has this answer; more of it is not used here. */
const answering = (query: () => Promise<readonly []>): Sql => query as unknown as Sql;

test("what a died connection carried and never comes again is suspected no longer", async () => {
  let now = 1_000_000;
  const careful = new Careful(
    {
      // Nothing is asked of it: no partition was taken from a dead owner.
      sql: answering(() => Promise.reject(new Error("unasked"))),
      node: "n",
      clock: { now: () => now },
      leases: { died: async () => new Set() },
    },
    new PoisonMessages(),
  );
  const names = { source: "t0", sequence: 7, kind: "counter", key: "a", tenant: "acme", type: "add", body: {} };
  const envelope = { ...names, replyTo: null, activity: null, fresh: false };
  careful.cut([{ partition: 0, id: null, envelope, raw: "" }]);
  /** Whether it is suspected later on, while messages of these partitions wait. */
  const isSuspectedAt = async (laterMs: number, waiting: readonly number[]) => {
    now = 1_000_000 + laterMs;
    await careful.relax(new Set(waiting), new Map());
    return careful.isSuspicious;
  };
  expect(await isSuspectedAt(1_000, [])).toBe(true);
  expect(await isSuspectedAt(61_000, [0])).toBe(true);
  expect(await isSuspectedAt(61_000, [1])).toBe(false);
});

test("nothing is taken ahead until what a dead owner's mailbox held is behind", async () => {
  const careful = new Careful(
    {
      // Nothing is noted of earlier deaths.
      sql: answering(() => Promise.resolve([])),
      node: "n",
      clock: { now: () => now },
      leases: { died: async () => new Set() },
    },
    new PoisonMessages(),
  );
  let now = 1_000_000;
  await careful.begin([
    { partition: 0, former: null },
    { partition: 1, former: "dead" },
    { partition: 2, former: "dead" },
  ]);
  const first = Array.from({ length: 512 }, () => [1, 2]).flat();
  careful.settle(first.map((partition) => ({ partition, id: "1-0", envelope: null, raw: "" })));
  const divided = () => [0, 1, 2].filter((partition) => careful.mayDivide(partition));
  now += 1000;
  /** Where the second partition has come to; the third one has nothing left. */
  const dividedAt = async (mailboxOffset: string) => {
    await careful.relax(new Set([1]), new Map([[1, { mailboxOffset }]]));
    return divided();
  };
  expect(divided()).toEqual([0]);
  expect(await dividedAt("1000000-5")).toEqual([0, 2]);
  expect(await dividedAt("1005000-0")).toEqual([0, 2]);
  expect(await dividedAt("1005001-0")).toEqual([0, 1, 2]);
});
