/** Mailboxes and memory: back-pressure, passivation (G6), damage, an emptied Redis. */
import { expect, test } from "bun:test";
import { MailboxFull, RuntimeUnavailable } from "../../../src/runtime/index.ts";
import { encodeEnvelope } from "../../../src/runtime/mailbox/envelope.ts";
import { MailboxWriter } from "../../../src/runtime/mailbox/mailbox.ts";
import { runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { StoreProxy } from "../../faults/proxy.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { at, Harness, stateOf } from "../harness.ts";

const harness = new Harness();

test("idle actors leave memory and come back with their state", async () => {
  const { runtime } = await harness.node({ actorIdleMs: 100 });
  const keys = Array.from({ length: 50 }, (_, index) => `idle-${index}`);
  await Promise.all(keys.map((key) => runtime.ask(at(key), "add", { label: key })));
  await until(() => runtime.counts().cachedActors === 0, { what: "every actor to leave memory" });
  for (const key of keys) expect(await runtime.ask(at(key), "add", {})).toBe(2);
});

test("more actors than memory may hold still work", async () => {
  const { runtime } = await harness.node({ cachedActors: 10 });
  const keys = Array.from({ length: 100 }, (_, index) => `many-${index}`);
  for (let round = 1; round <= 3; round++) {
    const replies = await Promise.all(keys.map((key) => runtime.ask(at(key), "add", {})));
    expect(replies).toEqual(keys.map(() => round));
  }
});

test("actors with large states leave memory early, others' small ones stay", async () => {
  const { runtime } = await harness.node();
  const small = Array.from({ length: 50 }, (_, index) => `small-${index}`);
  await Promise.all(small.map((key) => runtime.ask(at(key), "add", {})));
  const large = Array.from({ length: 100 }, (_, index) => `large-${index}`);
  const label = "x".repeat(1024 * 1024);
  for (const key of large) expect(await runtime.ask(at(key), "add", { label })).toBe(1);
  // 64 MiB of states may stay.
  expect(runtime.counts().cachedActors).toBeLessThanOrEqual(small.length + 64);
  expect(runtime.counts().cachedActors).toBeGreaterThan(small.length);
  expect(await Promise.all(large.map((key) => runtime.ask(at(key), "add", {})))).toEqual(large.map(() => 2));
  expect(runtime.counts().cachedActors).toBeLessThanOrEqual(small.length + 64);
});

test("a full mailbox refuses with a time to come back, loses nothing, and recovers", async () => {
  const { runtime, sql } = await harness.node({ mailboxLimit: 20, partitions: 1 });
  await runtime.ask(at("a"), "add", {});
  const sent: Promise<unknown>[] = [];
  let refusal: unknown = null;
  // The partition's row is locked: nothing can be committed, so the mailbox fills.
  await sql.begin(async (tx) => {
    await tx`select 1 from runtime_partitions for update`;
    await until(
      async () => {
        const asked = runtime.ask(at("a"), "add", {});
        sent.push(asked);
        asked.catch((error: unknown) => {
          refusal ??= error;
        });
        await Bun.sleep(0);
        return refusal;
      },
      { what: "a refusal", everyMs: 1 },
    );
  });
  expect(refusal).toBeInstanceOf(MailboxFull);
  expect((refusal as MailboxFull).retryAfterSeconds).toBe(1);
  await until(() => runtime.tell(at("a"), "add", {}).then(() => true), { what: "the mailbox to have room" });
  const accepted = (await Promise.allSettled(sent)).filter(({ status }) => status === "fulfilled").length;
  await until(async () => (await stateOf(runtime, "a"))?.count === accepted + 2, {
    what: "everything accepted to be counted",
  });
});

test("a damaged entry becomes a dead letter and blocks nothing", async () => {
  const { runtime } = await harness.node({ partitions: 1 });
  const redis = openRedis(harness.stores.redisUrl);
  const mailbox = runtimeKeys(harness.stores.prefix).mailbox(0);
  const wire = (key: string) => JSON.stringify(["nx", 1, "counter", key, "acme", "get", 0, 0, 0, {}]);
  const damaged = ["not json", "{}", "[]", "null", '["x"]', wire("nul\0key"), wire("\ud800")];
  for (const text of damaged) await redis.xadd(mailbox, "*", "m", text);
  await redis.xadd(mailbox, "*", "other", "field");
  expect(await runtime.ask(at("a"), "add", {})).toBe(1);
  const letters = await runtime.deadLetters.list({});
  expect(letters.map(({ error }) => error)).toEqual(
    [...damaged, 1].map(() => "unreadable mailbox entry").slice(0, letters.length),
  );
  expect(letters.length).toBeGreaterThanOrEqual(damaged.length);
  expect(await runtime.deadLetters.replay(letters[0]?.id ?? "")).toBe(false);
  redis.disconnect();
});

test("an emptied Redis whose clock is behind still hands out ids that are read", async () => {
  const first = await harness.node({ partitions: 1 });
  expect(await first.runtime.ask(at("a"), "add", {})).toBe(1);
  await harness.stop(first);
  const redis = openRedis(harness.stores.redisUrl);
  await redis.del(runtimeKeys(harness.stores.prefix).mailbox(0));
  // As if the partition had come an hour further than the clock of the new Redis.
  await harness.stores.sql`update runtime_partitions set mailbox_offset = ${`${Date.now() + 3_600_000}-7`}`;
  const { runtime } = await harness.node({ partitions: 1 });
  expect(await runtime.ask(at("a"), "add", {}, { deadlineMs: 5000 })).toBe(2);
  expect(await runtime.ask(at("a"), "add", {}, { deadlineMs: 5000 })).toBe(3);
  redis.disconnect();
});

test("a mailbox holds nothing once its messages are committed", async () => {
  const { runtime } = await harness.node({ partitions: 1 });
  const redis = openRedis(harness.stores.redisUrl);
  for (let index = 0; index < 20; index++) await runtime.ask(at("a"), "add", {});
  await until(async () => (await redis.xlen(runtimeKeys(harness.stores.prefix).mailbox(0))) === 0, {
    what: "an empty mailbox",
  });
  redis.disconnect();
});

test("a repeat of the message that made an actor does not make it again", async () => {
  const redis = openRedis(harness.stores.redisUrl);
  const mailbox = runtimeKeys(harness.stores.prefix).mailbox(0);
  const first = encodeEnvelope({
    source: "nsender",
    sequence: 1,
    kind: "counter",
    key: "a",
    tenant: "acme",
    type: "add",
    body: { label: "made" },
    replyTo: null,
    activity: null,
    fresh: true,
  });
  const maker = await harness.node({ partitions: 1 });
  await redis.xadd(mailbox, "*", "m", first);
  await until(async () => (await stateOf(maker.runtime, "a")) !== null, { what: "the actor" });
  await harness.stop(maker);
  const { runtime } = await harness.node({ partitions: 1 });
  await redis.xadd(mailbox, "*", "m", first);
  expect(await runtime.ask(at("a"), "add", { label: "next" })).toBe(2);
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["made", "next"]);
  redis.disconnect();
});

test("while Redis hangs, a message is refused in time, also behind a waiting one", async () => {
  const { redisUrl, prefix, dispose } = await freshStores();
  const proxy = await StoreProxy.to(redisUrl);
  const commandMs = 1_000;
  const redis = openRedis({ url: proxy.url, commandMs });
  try {
    const writer = new MailboxWriter({ redis, keys: runtimeKeys(prefix), limit: 100, now: Date.now });
    const send = async (sequence: number) => {
      const address = { kind: "counter", key: "hung", tenant: "t" };
      const content = { type: "add", body: {}, activity: null, fresh: false, replyTo: null };
      const begun = performance.now();
      // `rejects` would hold up the other sends until this one has failed.
      const error = await writer.send(0, { source: "test", sequence, ...address, ...content }).catch((e: Error) => e);
      expect(error).toBeInstanceOf(RuntimeUnavailable);
      return performance.now() - begun;
    };
    await redis.ping();
    proxy.hold();
    const first = send(1);
    await until(() => proxy.holds("hung"), { what: "the first message to be on its way" });
    const waits = await Promise.all([first, send(2), send(3)]);
    // One after the other they would take two commands' time.
    expect(Math.max(...waits)).toBeLessThan(1.9 * commandMs);
  } finally {
    redis.disconnect();
    proxy.close();
    await dispose();
  }
});
