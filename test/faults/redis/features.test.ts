/** Everything that speaks to Redis, on a real Redis Cluster: each command and script touches one slot. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import { demands } from "../../../actors/policy/rates/limits.ts";
import { openConcurrency } from "../../../src/features/executions/start/concurrency.ts";
import { openLimiter, type RateUse } from "../../../src/features/limits/limiter.ts";
import { openReloading } from "../../../src/features/models/service.ts";
import { openFailedVerifications } from "../../../src/features/stimuli/sources/verification/failed-verifications.ts";
import type { LogEntry } from "../../../src/runtime/index.ts";
import { encodeEnvelope } from "../../../src/runtime/mailbox/envelope.ts";
import { runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { defineQueue, openQueue } from "../../../src/store/queues.ts";
import { openRedis, openSubscriber, slotGroupsOf } from "../../../src/store/redis/connections.ts";
import { clusterSlotGroups } from "../../../src/store/redis/servers.ts";
import { manifest } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { RedisCluster } from "../../harness/redis/cluster.ts";
import { startTestNode } from "../../harness/runtime/runtime.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

setDefaultTimeout(90_000);

let redis: RedisCluster;
let stores: TestStores;

beforeAll(async () => {
  redis = await RedisCluster.start();
  stores = await freshStores();
});

afterAll(async () => {
  await stores?.dispose();
  await redis?.dispose();
});

const many = Array.from({ length: 60 }, (_, index) => `tenant-${index}`);

const rates = async () => {
  const now = () => Date.now();
  const standings = { of: async () => ({ tier: "free", overrides: [] }) as const };
  const limiter = openLimiter({ ...store(), standings, now, report: () => {} });
  const use = (tenant: string, userId: string): RateUse => ({
    tenant,
    user: { realm: "svc-consumer", userId },
    demands: [demands.of("agent_execution"), demands.of("llm_call")],
    source: { name: "ci", perMinute: 100 },
  });
  const uses = many.flatMap((tenant) => [use(tenant, "ann"), use(tenant, "bob")]);
  const answers = await Promise.all(uses.map((one) => limiter.debit(one)));
  expect(answers).toHaveLength(uses.length);
  await Promise.all(uses.map((one) => limiter.refund(one, now())));
  limiter.close();
};

const reservations = async () => {
  const concurrency = openConcurrency({ ...store(), records: { underWay: async () => [] } });
  const quota = { limit: 2, tier: "free" } as const;
  await Promise.all(many.map((tenant) => concurrency.reserve(tenant, "first", quota, false)));
  await Promise.all(many.map((tenant) => concurrency.reserve(tenant, "second", quota, false)));
  await expect(concurrency.reserve(many[0] ?? "", "third", quota, false)).rejects.toBeInstanceOf(Problem);
  await Promise.all(many.map((tenant) => concurrency.release(tenant, "first")));
  await concurrency.reserve(many[0] ?? "", "third", quota, false);
  await concurrency.close();
};

const failures = async () => {
  const failed = openFailedVerifications({ ...store(), now: () => Date.now(), perMinute: 2, timeoutMs: 5000 });
  const nodes = many.map((address) => ({ address, source: "ci", sourceId: null }));
  for (let round = 0; round < 2; round++) await Promise.all(nodes.map((sender) => failed.count(sender)));
  const third = await Promise.allSettled(nodes.map((sender) => failed.count(sender)));
  expect(third.every(({ status }) => status === "rejected")).toBe(true);
  failed.close();
};

const queues = async () => {
  const definition = defineQueue<{ readonly word: string }>("on-a-cluster");
  const opened = openQueue(definition, store());
  const done: string[] = [];
  opened.work(4, async ({ word }) => {
    done.push(word);
  });
  await opened.queue.add("one", { word: "now" });
  await opened.queue.addBulk(["a", "b", "c"].map((word) => ({ name: "one", data: { word }, opts: { delay: 50 } })));
  await opened.queue.upsertJobScheduler("often", { every: 100 }, { name: "one", data: { word: "again" } });
  await until(() => ["now", "a", "b", "c", "again"].every((word) => done.includes(word)), { what: "the jobs" });
  expect(await opened.queue.getJobSchedulers()).toHaveLength(1);
  await opened.queue.removeJobScheduler("often");
  await opened.close();
};

const channels = async () => {
  const heard: string[] = [];
  const models = {
    reload: async () => ({ ok: true }) as const,
    warning: () => null,
    served: () => [],
  };
  const open = (nodeId: string) =>
    openReloading({
      models,
      ...store(),
      nodeId,
      info: (event, { by }) => heard.push(`${nodeId} ${event} by ${String(by)}`),
      warn: () => {},
    });
  const nodes = ["one", "two", "three"].map(open);
  // Whichever server of the Cluster each of them listens at.
  await until(
    async () => {
      await nodes[0]?.reload();
      return ["two", "three"].every((node) => heard.includes(`${node} models by one`));
    },
    { what: "the other nodes to be told" },
  );
  for (const node of nodes) node.close();
};

const runtimeNodes = async () => {
  const options = { partitions: 32 };
  const on = { ...stores, ...store() };
  const nodes = await Promise.all([startTestNode(on, options), startTestNode(on, options)]);
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const at = (key: string) => ({ kind: "counter", key, tenant: "acme" });
  const entries = new Map<string, LogEntry[]>(many.map((key) => [key, []]));
  for (const [key, list] of entries) second.runtime.tail(at(key), 0, (found) => list.push(...found));
  for (const asked of [first, second])
    await Promise.all(many.map((key) => asked.runtime.ask(at(key), "note", { text: "x" })));
  await Promise.all(many.map((key) => first.runtime.tell(at(key), "spread", { to: many.slice(0, 5), label: key })));
  await first.runtime.ask(at("timed"), "wakeAt", { timer: "soon", at: Date.now() + 50 });
  const stateOf = async (key: string) => (await first.runtime.read(at(key)))?.state as { readonly seen: string[] };
  await until(async () => many.slice(0, 5).length === 5 && (await stateOf("tenant-0")).seen.length === many.length, {
    what: "what was told to the others",
  });
  await until(() => [...entries.values()].every((list) => list.length === 2), { what: "two entries of each tail" });
  await Promise.all(nodes.map((node) => node.stop()));
};

const wholeNode = async () => {
  const cluster = redis.servers.cluster.map(({ host, port }) => `${host}:${port}`).join(",");
  const own = await freshStores();
  const node = await startNodeProcess(own, { env: { REDIS_URL: "", REDIS_CLUSTER: cluster, SVC_LOG_LEVEL: "warn" } });
  const agent = (await node.call("POST", "/v1/agents", manifest({}))).body.agent_id;
  const started = await node.call("POST", "/v1/executions", { agent_id: agent, input: "hello" });
  expect(started.status).toBe(200);
  const record = `/v1/executions/${started.body.execution_id}`;
  await until(async () => (await node.call("GET", record)).body.status === "completed", {
    what: "an execution",
    timeoutMs: 40_000,
  });
  await node.dispose();
  await own.dispose();
};

const store = () => ({ redisServers: redis.servers, prefix: stores.prefix });

test.each([
  ["rates of many tenants at once", rates],
  ["reservations", reservations],
  ["failed verifications", failures],
  ["queues: jobs at once, delayed and repeated", queues],
  ["channels", channels],
  ["actors of all slot groups: asks, tells, tails and timers", runtimeNodes],
  ["a whole node", wholeNode],
] as const)("%s: no command touches two slots", async (_, run) => {
  await run();
  const errors = await redis.errors();
  expect([...errors.keys()].filter((name) => name === "CROSSSLOT")).toEqual([]);
});

test("notices of log entries go out only where another node follows", async () => {
  const own = await freshStores();
  const on = { ...own, redisServers: redis.servers };
  const nodes = await Promise.all([startTestNode(on), startTestNode(on)]);
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const at = (key: string) => ({ kind: "counter", key, tenant: "acme" });
  const published: string[] = [];
  // The servers of a Cluster hand on what is published to all of them.
  const observer = openSubscriber(redis.servers);
  observer.on("pmessage", (_pattern: string, _channel: string, text: string) => published.push(text));
  await observer.psubscribe(`${own.prefix}:tail:*`);
  const asked = [first, second];
  for (const { runtime } of asked) for (const key of many) await runtime.ask(at(key), "note", { text: "unheard" });
  // One that is followed on the node that does not own its partition: its notices come by Redis.
  const lists = new Map(many.slice(0, 8).map((key) => [key, [] as LogEntry[]]));
  for (const [key, list] of lists) first.runtime.tail(at(key), 0, (found) => list.push(...found));
  const has = (count: number) =>
    until(() => [...lists.values()].every(({ length }) => length === count), { what: `${count} entries` });
  await has(2);
  const unheard = published.filter((text) => text.includes("unheard"));
  // Redis lost the list of followers: it is written again, and what was missed is read.
  const connection = openRedis(redis.servers);
  await connection.del(runtimeKeys(own.prefix, clusterSlotGroups).followers);
  for (const key of lists.keys()) await second.runtime.ask(at(key), "note", { text: "missed or heard" });
  await has(3);
  // The list is renewed every few seconds; from then on notices go out again.
  published.length = 0;
  await until(
    async () => {
      for (const key of lists.keys()) await second.runtime.ask(at(key), "note", { text: "heard" });
      return published.some((text) => text.includes('"heard"'));
    },
    { what: "a notice", timeoutMs: 40_000, everyMs: 100 },
  );
  expect(unheard).toEqual([]);
  observer.disconnect();
  connection.disconnect();
  await Promise.all(nodes.map((node) => node.stop()));
  await own.dispose();
});

test("mailboxes moved here from a single server are taken over, in order and once", async () => {
  const own = await freshStores();
  const keys = runtimeKeys(own.prefix, clusterSlotGroups);
  const on = { ...own, redisServers: redis.servers };
  const at = { kind: "counter", key: "a", tenant: "acme" };
  const before = await startTestNode(on, { partitions: 1 });
  await before.runtime.ask(at, "add", { label: "before" });
  await before.stop();
  const connection = openRedis(redis.servers);
  const former = keys.formerMailbox(0) ?? "";
  const labels = Array.from({ length: 600 }, (_, index) => String(index));
  const texts = labels.map((label, index) =>
    encodeEnvelope({
      source: "nformer",
      sequence: index + 1,
      ...at,
      type: "add",
      body: { label },
      replyTo: null,
      activity: null,
      fresh: false,
    }),
  );
  for (const text of texts) await connection.xadd(former, "*", "m", text);
  // The first hundred were committed where they came from.
  const [committed] = (await connection.xrange(former, "-", "+", "COUNT", 100)).at(-1) ?? [""];
  await own.sql`update runtime_partitions set mailbox_offset = ${committed}`;
  const nodes = await Promise.all([startTestNode(on, { partitions: 1 }), startTestNode(on, { partitions: 1 })]);
  const [{ runtime }] = nodes;
  const seen = async () => ((await runtime.read(at))?.state as { readonly seen: string[] } | undefined)?.seen ?? [];
  await until(async () => (await seen()).length >= 501, { what: "the messages" });
  await runtime.ask(at, "add", { label: "after" });
  expect(await seen()).toEqual(["before", ...labels.slice(100), "after"]);
  expect(await connection.exists(former)).toBe(0);
  await Promise.all(nodes.map((node) => node.stop()));
  connection.disconnect();
  await own.dispose();
});

test("the slot groups of mailboxes are spread over the masters", async () => {
  const connection = openRedis(redis.servers);
  expect(slotGroupsOf(connection)).toBe(clusterSlotGroups);
  connection.disconnect();
  const keys = runtimeKeys("svc", clusterSlotGroups);
  const masters = new Map<number, number>();
  for (let group = 0; group < clusterSlotGroups; group++) {
    const { port } = await redis.masterOf(keys.mailbox(group));
    expect(await redis.masterOf(keys.wake("node", group))).toHaveProperty("port", port);
    expect(await redis.masterOf(keys.mailbox(group + clusterSlotGroups))).toHaveProperty("port", port);
    masters.set(port, (masters.get(port) ?? 0) + 1);
  }
  expect([...masters.values()].sort()).toEqual([5, 5, 6]);
});

test("a subscription is renewed at another server when its own is killed", async () => {
  const subscriber = openSubscriber(redis.servers);
  const commands = openRedis(redis.servers);
  const heard: string[] = [];
  subscriber.on("message", (_, text) => heard.push(text));
  await subscriber.subscribe("news");
  await redis.killServerOn(subscriber.stream.remotePort ?? 0);
  await until(
    async () => {
      await commands.publish("news", "x");
      return heard.length > 0;
    },
    { what: "news", timeoutMs: 20_000 },
  );
  subscriber.disconnect();
  commands.disconnect();
});
