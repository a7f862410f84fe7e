/** A lane without stores: what it does while one of them is slow, and with a batch that is refused. */
import { expect, spyOn, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineActor } from "../../../actors/kernel/actor.ts";
import { message } from "../../../actors/kernel/message.ts";
import type { Commit } from "../../../src/runtime/lane/commit/commit.ts";
import { Arrivals } from "../../../src/runtime/lane/exchange/arrivals.ts";
import type { Held } from "../../../src/runtime/lane/exchange/held.ts";
import { Lane } from "../../../src/runtime/lane/lane.ts";
import type { LaneOptions } from "../../../src/runtime/lane/options.ts";
import { Turns } from "../../../src/runtime/lane/turn.ts";
import type { Delivery } from "../../../src/runtime/mailbox/mailbox.ts";
import type { OwnedPartition } from "../../../src/runtime/ownership/lease.ts";
import { until } from "../../harness/until.ts";

const counted = defineActor({
  kind: "counted",
  state: Type.Object({ text: Type.Optional(Type.String()) }),
  messages: {
    count: message({ body: Type.Object({}) }),
    grow: message({ body: Type.Object({}) }),
    fail: message({ body: Type.Object({}) }),
  },
  receive: {
    count: () => ({ state: {}, effects: [] }),
    grow: () => ({ state: { text: "x".repeat(200_000) }, effects: [] }),
    fail: () => {
      throw new Error("no");
    },
  },
});

const clock = { now: () => Date.now(), newId: () => Bun.randomUUIDv7() };
const owned: OwnedPartition = {
  partition: 0,
  epoch: 1,
  mailboxOffset: "0-0",
  incarnation: "one",
  outboxSequence: 5,
  former: null,
};
const heldPartition = (): Held => ({
  ...owned,
  received: new Map(),
  arrivals: new Arrivals(),
  sent: new Map(),
  takenInbox: new Set(),
  attempted: 5,
  published: 5,
  cleared: 5,
});

/** What a lane tells others, and these tests do not look at. */
const unasked = [
  "crash",
  "report",
  "reply",
  "trim",
  "wakeReader",
  "follow",
  "unfollow",
  "refreshTails",
  "interrupted",
  "lost",
];

/** @param ask answers a query, by its text and parameters */
function laneOn(
  ask: (text: string, parameters: readonly unknown[]) => unknown,
  commit: (batch: Commit) => Promise<void> = async () => {},
  others: Partial<Pick<LaneOptions, "follow">> = {},
): Lane {
  const sql = Object.assign(
    async (strings: readonly string[], ...values: unknown[]) => ask(strings.join("?"), values),
    {
      unsafe: async (text: string, values: unknown[]) => ask(text, values),
    },
  );
  const options = {
    mayDivide: () => true,
    remove: () => {},
    sql,
    clock,
    node: "node",
    partitions: 1,
    batchSize: 16,
    inbox: { messages: 100, bytes: 1e6, totalBytes: 1e6, batchBytes: 1e6 },
    cachedActors: 10,
    actorIdleMs: 60_000,
    projections: new Map(),
    factWriters: new Map(),
    turns: new Turns([counted], clock, 1),
    journal: { commit },
    leases: {
      retake: async (partitions: readonly number[]) => partitions.map((partition) => ({ ...owned, partition })),
    },
    timers: { committed() {}, attach() {}, detach() {} },
    isHostBound: () => false,
    ...Object.fromEntries(unasked.map((name) => [name, () => {}])),
    keepIdsAbove: async () => {},
    ...others,
  };
  // Only what these tests make it use.
  const lane = new Lane(options as unknown as LaneOptions);
  lane.held.set(0, heldPartition());
  return lane;
}

test("what is asked of a lane while it reads PostgreSQL is done right after", async () => {
  const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
  let looks = 0;
  const lane = laneOn(() => {
    looks++;
    return promise;
  });
  lane.refill([0]);
  lane.start();
  await until(() => looks > 0, { what: "a look" });
  const attached = lane.attach([]).then(() => true);
  resolve([]);
  // A bound, not a wait: at its next look it would be done as well, seconds later.
  expect(await Promise.race([attached, Bun.sleep(500)])).toBe(true);
  await lane.stop();
});

test("a lane that is never idle still reads PostgreSQL, and forgets old numbers", async () => {
  const lane = laneOn((text) =>
    text.includes("delete from runtime_received") ? [{ partition: 0, source: "na.1" }] : [],
  );
  const { received } = lane.held.get(0) as Held;
  for (const source of ["na.1", "na.2", "nb", "p7"]) received.set(source, 1);
  lane.busySince = performance.now();
  const later = performance.now() + 60_000;
  const now = spyOn(performance, "now").mockImplementation(() => later);
  try {
    await lane.tick();
  } finally {
    now.mockRestore();
  }
  expect([...received.keys()]).toEqual(["na.2", "nb", "p7"]);
});

test("a timer beside a message that PostgreSQL refuses comes to its turn once more", async () => {
  const deadLetters: string[] = [];
  let isRefused = false;
  const lane = laneOn(
    (text, values) =>
      text.includes("runtime_actors") && String(values[1]).includes("timed") ? [{ ...stored, state: "{}" }] : [],
    async (batch) => {
      if (!isRefused) {
        isRefused = true;
        throw Object.assign(new Error("invalid input"), { code: "22P02" });
      }
      deadLetters.push(...batch.deadLetters.map(({ key }) => key));
    },
  );
  lane.deliver({ ...deliveryTo("other", "count", 1) });
  lane.deliver({ ...deliveryTo("timed", "fail", 2), timer });
  lane.start();
  await until(() => lane.counts.commits === 2, { what: "both halves" });
  await lane.stop();
  expect(deadLetters).toEqual(["timed"]);
});

/** A lane with two partitions whose commits of large states wait for `answer`. */
function laneWithLargeCommit() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const keys: string[] = [];
  const rejected: string[] = [];
  let isFirst = true;
  const lane = laneOn(
    () => [],
    async ({ actors, deadLetters, largeTexts }) => {
      if (largeTexts.length > 0 && isFirst) {
        isFirst = false;
        keys.push("begun");
        await promise;
      }
      keys.push(...actors.map(({ key }) => key));
      rejected.push(...deadLetters.map(({ key }) => key));
    },
  );
  lane.held.set(1, { ...heldPartition(), partition: 1 });
  lane.start();
  const committed = (key: string) => until(() => keys.includes(key), { what: `the commit of ${key}` });
  return { lane, keys, rejected, committed, resolve, reject };
}

test("a commit of a large state holds up its own partition alone", async () => {
  const { lane, keys, committed, resolve } = laneWithLargeCommit();
  lane.deliver(deliveryTo("large", "grow", 1));
  await committed("begun");
  lane.deliver(deliveryTo("behind", "count", 2));
  lane.deliver({ ...deliveryTo("beside", "count", 3, "other"), partition: 1 });
  await committed("beside");
  expect(keys).toEqual(["begun", "beside"]);
  resolve();
  await committed("behind");
  expect(keys).toEqual(["begun", "beside", "large", "behind"]);
  await lane.stop();
});

test("a commit of a large state that is refused blames its message alone", async () => {
  const { lane, keys, rejected, committed, reject } = laneWithLargeCommit();
  lane.deliver(deliveryTo("large", "grow", 1));
  await committed("begun");
  lane.deliver({ ...deliveryTo("beside", "count", 2, "other"), partition: 1 });
  await committed("beside");
  reject(Object.assign(new Error("invalid input"), { code: "22P02" }));
  await until(() => rejected.length > 0, { what: "a dead letter" });
  await lane.stop();
  expect(keys).toEqual(["begun", "beside"]);
  expect(rejected).toEqual(["large"]);
});

/** As mailboxes that are read again from where they are committed. */
const readAgain = (waiting: ReadonlyMap<number, Delivery>, lane: () => Lane) => ({
  follow(partition: number) {
    const again = waiting.get(partition);
    if (again !== undefined) lane().deliver(again);
  },
});

test("partitions are given up once a commit of a large state has ended", async () => {
  const { lane, keys, committed, resolve } = laneWithLargeCommit();
  lane.deliver(deliveryTo("large", "grow", 1));
  await committed("begun");
  let isDetached = false;
  const detached = lane.detach([]).then(() => {
    isDetached = true;
  });
  lane.deliver({ ...deliveryTo("beside", "count", 2, "other"), partition: 1 });
  // A turn of the event loop, in which it would have been done.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isDetached).toBe(false);
  resolve();
  await detached;
  expect(keys.slice(0, 2)).toEqual(["begun", "large"]);
  await lane.stop();
});

test.each([
  ["and with the commit beside it", true],
  ["while the commit beside it goes well", false],
])("a large message whose connection dies, %s, is set aside after three deaths", async (_, isBoth) => {
  const waiting = new Map([
    [0, deliveryTo("large", "grow", 1)],
    [1, { ...deliveryTo("beside", "count", 2, "other"), partition: 1 }],
  ]);
  const { promise, resolve } = Promise.withResolvers<void>();
  const done: string[] = [];
  const rejected: string[] = [];
  let [deaths, besides] = [0, 0];
  const lane: Lane = laneOn(
    () => [],
    async ({ actors, deadLetters }) => {
      const dead = Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" });
      for (const { key } of actors) {
        if (key === "large") {
          if (deaths++ === 0) await promise;
          throw dead;
        }
        if (besides++ > 0) continue;
        resolve();
        if (isBoth) throw dead;
      }
      done.push(...actors.map(({ key }) => key));
      rejected.push(...deadLetters.map(({ key }) => key));
      if (actors.length > 0) waiting.delete(1);
    },
    readAgain(waiting, () => lane),
  );
  lane.held.set(1, { ...heldPartition(), partition: 1 });
  lane.start();
  lane.deliver(waiting.get(0) as Delivery);
  await until(() => deaths > 0, { what: "the first commit of the large message" });
  lane.deliver(waiting.get(1) as Delivery);
  await until(() => rejected.length > 0 && done.length > 0, { what: "the dead letter, and the other message" });
  await lane.stop();
  expect({ deaths, rejected, done }).toEqual({ deaths: 3, rejected: ["large"], done: ["beside"] });
});

test("what is refused while the commit beside it fails is taken once", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const waiting = new Map<number, Delivery>([[0, deliveryTo("large", "grow", 1)]]);
  const rejected: string[] = [];
  const done: string[] = [];
  let begun = 0;
  const lane: Lane = laneOn(
    () => [],
    async ({ actors, deadLetters }) => {
      if (actors.length > 0 && begun++ === 0) await promise;
      if (deadLetters.length > 0 && begun === 1) {
        begun++;
        reject(Object.assign(new Error("away"), { code: "57P03" }));
        throw Object.assign(new Error("invalid input"), { code: "22P02" });
      }
      rejected.push(...deadLetters.map(({ body }) => body));
      done.push(...actors.map(({ key }) => key));
    },
    readAgain(waiting, () => lane),
  );
  lane.held.set(1, { ...heldPartition(), partition: 1 });
  lane.start();
  lane.deliver(waiting.get(0) as Delivery);
  await until(() => begun === 1, { what: "the commit of the large message" });
  waiting.set(1, { partition: 1, id: "6-0", envelope: null, raw: "not a message" });
  lane.deliver(waiting.get(1) as Delivery);
  await until(() => rejected.length > 0 && done.length > 0, { what: "everything to be taken" });
  await lane.stop();
  expect(rejected).toEqual(['"not a message"']);
});

test("a connection that died counts once while its partitions are taken anew in vain", async () => {
  const waiting = deliveryTo("alone", "count", 1);
  const done: string[] = [];
  const rejected: string[] = [];
  let [deaths, vain] = [0, 0];
  const lane: Lane = laneOn(
    (text) => {
      if (text.includes("runtime_parked") && deaths > 0 && vain++ < 3) throw new Error("away");
      return [];
    },
    async ({ actors, deadLetters }) => {
      if (deaths++ === 0) throw Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" });
      done.push(...actors.map(({ key }) => key));
      rejected.push(...deadLetters.map(({ key }) => key));
    },
    { follow: () => lane.deliver(waiting) },
  );
  lane.start();
  lane.deliver(waiting);
  await until(() => done.length + rejected.length > 0, { what: "the message to be taken" });
  await lane.stop();
  expect({ done, rejected, vain: vain > 3 }).toEqual({ done: ["alone"], rejected: [], vain: true });
});

const names = { kind: "counted", key: "timed", tenant: "acme" };
const timer = { ...names, partition: 0, due: 1, fence: 3, timer: "t", type: "fail", body: "{}" };
const stored = {
  ...names,
  partition: 0,
  version: "1",
  logs: "{}",
  timers: JSON.stringify({ t: [timer.due, timer.fence] }),
  format: 1,
  listed: null,
};

function deliveryTo(key: string, type: string, sequence: number, tenant = "acme"): Delivery {
  const address = { kind: "counted", key, tenant };
  const content = { type, body: {}, replyTo: null, activity: null, fresh: false };
  return { partition: 0, id: null, raw: "", envelope: { source: "nx", sequence, ...address, ...content } };
}
