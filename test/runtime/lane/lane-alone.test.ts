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
  state: Type.Object({}),
  messages: { count: message({ body: Type.Object({}) }), fail: message({ body: Type.Object({}) }) },
  receive: {
    count: () => ({ state: {}, effects: [] }),
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

/** @param ask answers a query, by its text and parameters */
function laneOn(
  ask: (text: string, parameters: readonly unknown[]) => unknown,
  commit: (batch: Commit) => Promise<void> = async () => {},
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
    leases: { retake: async () => [owned] },
    timers: { committed() {} },
    isHostBound: () => false,
    ...Object.fromEntries(["crash", "report", "reply", "trim", "wakeReader"].map((name) => [name, () => {}])),
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

function deliveryTo(key: string, type: string, sequence: number): Delivery {
  const address = { kind: "counted", key, tenant: "acme" };
  const content = { type, body: {}, replyTo: null, activity: null, fresh: false };
  return { partition: 0, id: null, raw: "", envelope: { source: "nx", sequence, ...address, ...content } };
}
