/** The order in which effects are carried out. */

import { expect, test } from "bun:test";
import type { Redis } from "ioredis";
import type { Effect } from "../../actors/kernel/effect.ts";
import { cancel, schedule } from "../../actors/kernel/effect.ts";
import { type JobPort, Outbox, type TimerJob, toOutbox } from "../../src/runtime/effects/outbox.ts";
import { runtimeKeys } from "../../src/runtime/mailbox/partition.ts";

/** Jobs that take their time, and notes of when each began and ended. */
function slowJobs(fails: (timer: TimerJob) => boolean = () => false) {
  const notes: string[] = [];
  const slowly = async (what: string, act: () => void = () => {}) => {
    notes.push(`> ${what}`);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    act();
    notes.push(`< ${what}`);
  };
  const jobs: JobPort = {
    schedule: (timers) =>
      slowly(`set ${timers.map(({ key, timer }) => `${key}.${timer}`).join(" ")}`, () => {
        if (timers.some(fails)) throw new Error("Redis is away");
      }),
    cancel: (_, key, timer) => slowly(`end ${key}.${timer}`),
  };
  return { jobs, notes };
}

const set = (timer: string): Effect => schedule(timer, 0, "t", {});
const end = (timer: string): Effect => cancel(timer);

function publish(jobs: JobPort, effects: readonly (readonly [key: string, effect: Effect])[]): Promise<void> {
  // Timers never touch it.
  const outbox = new Outbox({ redis: {} as Redis, keys: runtimeKeys("test"), partitions: 8, jobs });
  const rows = effects.map(([key, effect], index) => {
    const text = toOutbox(effect, { kind: "k", key, tenant: "acme" });
    if (text === null) throw new Error("unreachable: timers pass through the outbox");
    return { partition: 0, seq: index + 1, effect: text };
  });
  return outbox.publish(rows);
}

test("timers of different actors are set in one piece, of one actor in order", async () => {
  const { jobs, notes } = slowJobs();
  await publish(jobs, [
    ["a", set("x")],
    ["b", set("x")],
    ["a", end("x")],
    ["a", set("x")],
    ["c", end("x")],
  ]);
  const [first] = notes.filter((note) => note.startsWith("> set a.x b.x"));
  expect(first).toBeDefined();
  const ofA = notes.filter((note) => note.includes("a.x"));
  expect(ofA).toEqual(["> set a.x b.x", "< set a.x b.x", "> end a.x", "< end a.x", "> set a.x", "< set a.x"]);
});

test("what cannot be set is told, and nothing of that actor comes after it", async () => {
  const { jobs, notes } = slowJobs(({ key }) => key === "a");
  await expect(
    publish(jobs, [
      ["a", set("x")],
      ["a", end("x")],
    ]),
  ).rejects.toThrow("Redis is away");
  expect(notes).toEqual(["> set a.x"]);
});
