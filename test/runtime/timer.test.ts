/** Timers (G4): rows of PostgreSQL, which Redis cannot lose. */

import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Redis } from "ioredis";
import { defineActor } from "../../actors/kernel/actor.ts";
import { schedule } from "../../actors/kernel/effect.ts";
import { message } from "../../actors/kernel/message.ts";
import { counter } from "../harness/runtime/counter.ts";
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
/** Its timer breaks its turn where it is told so. */
const fragile = defineActor({
  kind: "fragile",
  state: Type.Object({ breaks: Type.Boolean(), fired: Type.Integer() }),
  messages: {
    set: message({ body: Type.Object({ breaks: Type.Boolean() }) }),
    ring: message({ body: Type.Object({}) }),
  },
  receive: {
    set: (state, { breaks }, context) => ({
      state: { breaks, fired: state?.fired ?? 0 },
      effects: [schedule("ring", context.now + 50, "ring", {})],
    }),
    ring: (state) => {
      if (state?.breaks !== false) throw new Error("broken");
      return { state: { ...state, fired: state.fired + 1 }, effects: [] };
    },
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

test("a Redis that is emptied loses no timer, on the same node and on the next one", async () => {
  const first = await harness.node();
  await first.runtime.ask(at("a"), "wakeAt", { timer: "soon", at: Date.now() + 600 });
  await first.runtime.ask(at("b"), "wakeAt", { timer: "late", at: Date.now() + 1_500 });
  await emptyRedis();
  await until(async () => (await woken(first.runtime, "a")).length > 0, { what: "the timer of the same node" });
  await harness.stop(first);
  await emptyRedis();
  const { runtime } = await harness.node();
  await until(async () => (await woken(runtime, "b")).length > 0, { what: "the timer of the next node" });
  expect([await woken(runtime, "a"), await woken(runtime, "b")]).toEqual([["woken:soon"], ["woken:late"]]);
});

test("no row is left of timers that fired, were cancelled, or whose actor ended", async () => {
  const { runtime, sql } = await harness.node();
  const later = Date.now() + 3_600_000;
  await runtime.ask(at("a"), "wakeAt", { timer: "past", at: 0 });
  await runtime.ask(at("a"), "wakeAt", { timer: "cancelled", at: later });
  await runtime.ask(at("b"), "wakeAt", { timer: "of one that ends", at: later });
  await runtime.ask(at("c"), "wakeAt", { timer: "waits", at: later });
  await until(async () => (await woken(runtime, "a")).length > 0, { what: "a timer of the past" });
  await runtime.ask(at("a"), "dontWake", { timer: "cancelled" });
  await runtime.ask(at("b"), "end", {});
  const rows = await sql<{ key: string; timer: string }[]>`select key, timer from runtime_timers`;
  expect([...rows]).toEqual([{ key: "c", timer: "waits" }]);
});

test("a timer whose turn fails is a dead letter once, and its name can be set again", async () => {
  const { runtime, sql } = await harness.node({ actors: [fragile] });
  const to = { kind: "fragile", key: "f", tenant: "acme" };
  await runtime.tell(to, "set", { breaks: true });
  await until(async () => (await runtime.deadLetters.list({ kind: "fragile" })).length === 1, {
    what: "a dead letter",
  });
  await runtime.tell(to, "set", { breaks: false });
  await until(async () => ((await runtime.read(to))?.state as { fired: number } | undefined)?.fired === 1, {
    what: "the timer set again",
  });
  expect(await runtime.deadLetters.list({ kind: "fragile" })).toHaveLength(1);
  expect(await sql`select from runtime_timers`).toHaveLength(0);
});

test("more timers than are kept in memory of a partition all fire, none twice", async () => {
  const { runtime } = await harness.node({ actors: [counter] });
  const count = 700;
  const due = Date.now() + 400;
  for (let index = 0; index < count; index++) {
    void runtime.tell(at("many"), "wakeAt", { timer: `t${index}`, at: due + index / 10 });
  }
  await until(async () => (await woken(runtime, "many")).length === count, { what: "all timers", timeoutMs: 20_000 });
  expect(new Set(await woken(runtime, "many")).size).toBe(count);
});

async function emptyRedis(): Promise<void> {
  const redis = new Redis(harness.stores.redisUrl);
  const keys = await redis.keys(`${harness.stores.prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  redis.disconnect();
}
