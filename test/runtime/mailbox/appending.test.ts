/** Messages that go into mailboxes together, and leave them together. */
import { afterAll, expect, test } from "bun:test";
import { MailboxFull, RuntimeUnavailable } from "../../../src/runtime/index.ts";
import { Appending } from "../../../src/runtime/mailbox/appending.ts";
import { decodeEnvelope, type Envelope } from "../../../src/runtime/mailbox/envelope.ts";
import { runtimeKeys } from "../../../src/runtime/mailbox/partition.ts";
import { MailboxSizes } from "../../../src/runtime/mailbox/sizes.ts";
import { Trimming } from "../../../src/runtime/mailbox/trimming.ts";
import { openRedis } from "../../../src/store/redis/connections.ts";
import { StoreProxy } from "../../faults/proxy.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const stores = await freshStores();
const redis = openRedis(stores.redisUrl);
const keys = runtimeKeys(stores.prefix);
let mailboxes = 0;
const newMailbox = () => keys.mailbox(mailboxes++);

afterAll(async () => {
  redis.disconnect();
  await stores.dispose();
});

const numbered = (sequence: number, body: Envelope["body"] = {}): Envelope => ({
  ...{ source: "nsender", sequence, kind: "counter", key: "a", tenant: "acme", type: "add", body },
  ...{ replyTo: null, activity: null, fresh: false },
});

async function sequencesIn(key: string): Promise<number[]> {
  const entries = await redis.xrange(key, "-", "+");
  return entries.map(([, [, text = ""]]) => decodeEnvelope(text).sequence);
}

async function commands(name: string): Promise<number> {
  const stats = await redis.info("commandstats");
  return Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

for (const [lines, isCluster] of [
  ["one line", false],
  ["a line each", true],
] as const) {
  test(`messages of several mailboxes keep their order, with ${lines}`, async () => {
    const appending = new Appending(redis, isCluster);
    const names = [newMailbox(), newMailbox(), newMailbox()];
    const sent: Promise<void>[] = [];
    for (let sequence = 1; sequence <= 3000; sequence++) {
      sent.push(appending.append(names[sequence % names.length] ?? "", numbered(sequence)));
      if (sequence % 700 === 0) await Bun.sleep(0);
      // As after a fail-over: the server does not know the script any more.
      if (sequence % 1000 === 0) await redis.script("FLUSH");
    }
    await Promise.all(sent);
    for (const [place, name] of names.entries()) {
      const expected = Array.from({ length: 3000 }, (_, index) => index + 1).filter((one) => one % 3 === place);
      expect(await sequencesIn(name)).toEqual(expected);
    }
  });
}

test("many messages cost few commands of their sender", async () => {
  const appending = new Appending(redis, false);
  const name = newMailbox();
  const before = [await commands("evalsha"), await commands("eval")];
  await Promise.all(Array.from({ length: 2000 }, (_, index) => appending.append(name, numbered(index + 1))));
  const after = [await commands("evalsha"), await commands("eval")];
  const used = (after[0] ?? 0) + (after[1] ?? 0) - (before[0] ?? 0) - (before[1] ?? 0);
  // Other tests may share the server; one for each message would be 2,000.
  expect(used).toBeLessThan(500);
  expect(await redis.xlen(name)).toBe(2000);
});

test("a mailbox that takes nothing refuses its messages; others beside are accepted", async () => {
  const appending = new Appending(redis, false);
  const [broken, name] = [newMailbox(), newMailbox()];
  await redis.set(broken, "not a stream");
  const sent = [broken, name, broken, name].map((key, index) => appending.append(key, numbered(index)));
  const ends = await Promise.allSettled(sent);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
  const [first] = ends;
  expect(first?.status === "rejected" && first.reason).toBeInstanceOf(RuntimeUnavailable);
  expect(await sequencesIn(name)).toEqual([1, 3]);
  await redis.del(broken);
});

test("large messages do not go together", async () => {
  const appending = new Appending(redis, false);
  const name = newMailbox();
  const text = "x".repeat(700 * 1024);
  await Promise.all(Array.from({ length: 5 }, (_, index) => appending.append(name, numbered(index + 1, { text }))));
  expect(await sequencesIn(name)).toEqual([1, 2, 3, 4, 5]);
});

test("no more than 50,000 messages are on their way", async () => {
  const proxy = await StoreProxy.to(stores.redisUrl);
  const slow = openRedis({ url: proxy.url, commandMs: 2_000 });
  try {
    await slow.ping();
    const appending = new Appending(slow, false);
    const name = newMailbox();
    proxy.hold();
    const sent = Array.from({ length: 50_003 }, (_, index) => appending.append(name, numbered(index)));
    const refused = (await Promise.allSettled(sent)).filter(({ status }) => status === "rejected");
    const full = refused.filter((one) => one.status === "rejected" && one.reason instanceof MailboxFull);
    expect([refused.length, full.length]).toEqual([50_003, 3]);
  } finally {
    slow.disconnect();
    proxy.close();
  }
});

test("while a server hangs messages are refused in time; none overtakes another", async () => {
  const proxy = await StoreProxy.to(stores.redisUrl);
  const slow = openRedis({ url: proxy.url, commandMs: 500 });
  try {
    await slow.ping();
    const appending = new Appending(slow, false);
    const name = newMailbox();
    proxy.hold();
    const first = appending.append(name, numbered(1)).catch((error: Error) => error);
    await until(() => proxy.holds("counter"), { what: "the first message to be on its way" });
    const begun = performance.now();
    const sent = [2, 3].map((one) => appending.append(name, numbered(one)).catch((error) => error));
    // What waits is bounded, and has room again once it is over.
    const text = "x".repeat(1024 * 1024);
    const flood = Array.from({ length: 70 }, (_, index) => appending.append(newMailbox(), numbered(index, { text })));
    const refusals = Promise.allSettled(flood);
    const behind = await Promise.all(sent);
    expect(behind.every((error) => error instanceof RuntimeUnavailable)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(5 * 500);
    expect(await first).toBeInstanceOf(RuntimeUnavailable);
    const full = (await refusals).filter((one) => one.status === "rejected" && one.reason instanceof MailboxFull);
    expect(full.length).toBe(70 - 64);
    proxy.release();
    await until(
      () =>
        appending.append(name, numbered(4)).then(
          () => true,
          () => false,
        ),
      { what: "a message to be accepted" },
    );
    // Those that were refused may have been appended all the same.
    const sequences = await sequencesIn(name);
    expect(sequences.at(-1)).toBe(4);
    expect(sequences).toEqual(sequences.toSorted((left, right) => left - right));
  } finally {
    slow.disconnect();
    proxy.close();
  }
});

for (const slotGroups of [1, 16]) {
  test(`the sizes of mailboxes of ${slotGroups} slot groups are seen a moment later`, async () => {
    const grouped = runtimeKeys(`${stores.prefix}:sizes`, slotGroups);
    const partitions = [0, 1, 2, 16, 18];
    const text = "x".repeat(1000);
    await Promise.all(Array.from({ length: 100 }, () => redis.xadd(grouped.mailbox(1), "*", "m", text)));
    await redis.xadd(grouped.mailbox(18), "*", "m", text);
    await redis.set(grouped.mailbox(2), "not a stream");
    let now = 0;
    const sizes = new MailboxSizes(redis, grouped, () => now);
    const messages = () => partitions.map((partition) => sizes.of(partition).messages);
    expect(messages()).toEqual([0, 0, 0, 0, 0]);
    await until(() => messages().filter((one) => one > 0).length === 2, { what: "a look at them" });
    expect(messages()).toEqual([0, 100, 0, 0, 1]);
    expect(sizes.of(1).bytes).toBeGreaterThan(100_000);
    expect(sizes.of(18).bytes).toBe(0);
    await redis.del(grouped.mailbox(1), grouped.mailbox(2));
    // What was seen stays good for a while.
    expect(messages()).toEqual([0, 100, 0, 0, 1]);
    now += 1000;
    await until(() => messages()[1] === 0, { what: "another look" });
    expect(sizes.of(1).bytes).toBe(0);
  });

  test(`what is committed leaves its mailboxes, those of ${slotGroups} slot groups`, async () => {
    const grouped = runtimeKeys(`${stores.prefix}:trim`, slotGroups);
    const partitions = [0, 1, 2, 3, 17];
    const ids = new Map<number, (string | null)[]>();
    for (const partition of partitions) {
      const added = await Promise.all([1, 2, 3].map(() => redis.xadd(grouped.mailbox(partition), "*", "m", "x")));
      ids.set(partition, added);
    }
    const [broken] = [4];
    await redis.set(grouped.mailbox(broken), "not a stream");
    const trimming = new Trimming(redis, grouped);
    trimming.trim(broken, "1-1");
    for (const partition of partitions) trimming.trim(partition, ids.get(partition)?.[1] ?? "");
    const left = () => Promise.all(partitions.map((partition) => redis.xrange(grouped.mailbox(partition), "-", "+")));
    await until(async () => (await left()).every((entries) => entries.length === 1), { what: "trimmed mailboxes" });
    expect((await left()).map(([entry]) => entry?.[0])).toEqual(partitions.map((one) => ids.get(one)?.[2] ?? ""));
    await redis.del(grouped.mailbox(broken));
  });
}
