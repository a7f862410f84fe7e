/** Timers (G4). */

import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Queue } from "bullmq";
import { defineActor } from "../../actors/kernel/actor.ts";
import { schedule } from "../../actors/kernel/effect.ts";
import { message } from "../../actors/kernel/message.ts";
import { Timers } from "../../src/runtime/timers/timer.ts";
import { openBlockingRedis } from "../../src/store/redis.ts";
import { until } from "../harness/until.ts";
import { at, Harness, stateOf } from "./harness.ts";

const harness = new Harness();
const woken = async (runtime: Parameters<typeof stateOf>[0], key: string) =>
  ((await stateOf(runtime, key))?.seen ?? []).filter((label) => label.startsWith("woken:"));

test("a timer fires once, after its node is gone, on the next one", async () => {
  const first = await harness.node();
  await first.runtime.ask(at("a"), "wakeAt", { timer: "t", at: Date.now() + 400 });
  await harness.stop(first);
  const { runtime } = await harness.node();
  await until(async () => (await woken(runtime, "a")).length > 0, { what: "the timer" });
  await runtime.ask(at("b"), "wakeAt", { timer: "later", at: Date.now() + 200 });
  await until(async () => (await woken(runtime, "b")).length > 0, { what: "a later timer" });
  expect(await woken(runtime, "a")).toEqual(["woken:t"]);
});

test("a cancelled timer stays silent; one rescheduled under its name fires anew", async () => {
  const { runtime } = await harness.node();
  await runtime.ask(at("a"), "wakeAt", { timer: "x:1%", at: Date.now() + 300 });
  await runtime.ask(at("a"), "dontWake", { timer: "x:1%" });
  await runtime.ask(at("a"), "wakeAt", { timer: "y", at: Date.now() + 3_600_000 });
  await runtime.ask(at("a"), "dontWake", { timer: "y" });
  await runtime.ask(at("a"), "wakeAt", { timer: "y", at: Date.now() + 500 });
  await runtime.ask(at("a"), "dontWake", { timer: "never there" });
  await until(async () => (await woken(runtime, "a")).includes("woken:y"), { what: "the timer scheduled anew" });
  expect(await woken(runtime, "a")).toEqual(["woken:y"]);
});

test("scheduling a name that is waiting does nothing", async () => {
  const { runtime } = await harness.node();
  await runtime.ask(at("a"), "wakeAt", { timer: "t", at: Date.now() + 200 });
  await runtime.ask(at("a"), "wakeAt", { timer: "t", at: Date.now() + 250 });
  await runtime.ask(at("a"), "wakeAt", { timer: "end", at: Date.now() + 500 });
  await until(async () => (await woken(runtime, "a")).includes("woken:end"), { what: "the last timer" });
  expect(await woken(runtime, "a")).toEqual(["woken:t", "woken:end"]);
});

const ticker = defineActor({
  kind: "ticker",
  state: Type.Object({ ticks: Type.Integer() }),
  messages: { tick: message({ body: Type.Object({}) }) },
  receive: {
    // The same name again in the very turn of the timer.
    tick: (state, _body, context) => ({
      state: { ticks: (state?.ticks ?? 0) + 1 },
      effects: (state?.ticks ?? 0) < 9 ? [schedule("tick", context.now + 20, "tick", {})] : [],
    }),
  },
});
const clock = { kind: "ticker", key: "clock", tenant: "acme" };

test("a timer that schedules itself anew when it fires keeps ticking", async () => {
  const { runtime } = await harness.node({ actors: [ticker] });
  await runtime.tell(clock, "tick", {});
  await until(async () => ((await runtime.read(clock))?.state as { ticks: number } | undefined)?.ticks === 10, {
    what: "ten ticks",
  });
});

test("a timer rescheduled while BullMQ ends its firing is kept and can be cancelled", async () => {
  const { redisUrl, prefix } = harness.stores;
  const connections = [openBlockingRedis(redisUrl), openBlockingRedis(redisUrl)] as const;
  const timer = { kind: "ticker", key: "k", tenant: "acme", timer: "t", at: 0, type: "tick", body: {} };
  let fired = 0;
  const anew = async () => {
    fired++;
    if (fired > 3) return;
    const at = fired === 3 ? Date.now() + 60_000 : 0;
    await timers.schedule([{ ...timer, at }]);
    await timers.schedule([{ ...timer, at }]);
  };
  const options = { connection: connections[0], blocking: connections[1], prefix: `${prefix}:bull`, now: Date.now };
  const timers = new Timers({ ...options, fire: anew });
  timers.start();
  await timers.schedule([timer]);
  await until(() => fired === 3, { what: "three firings" });
  const queue = new Queue("timers", { connection: connections[0] as never, prefix: `${prefix}:bull` });
  await until(async () => (await queue.getDelayedCount()) === 1 && (await queue.getActiveCount()) === 0);
  await timers.cancel(timer.kind, timer.key, timer.timer);
  expect(await queue.getJobCounts("delayed", "waiting", "active")).toEqual({ delayed: 0, waiting: 0, active: 0 });
  expect(fired).toBe(3);
  await timers.stop();
  await queue.close();
  for (const connection of connections) connection.disconnect();
});
