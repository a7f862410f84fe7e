/** Timers of a former version, which kept them in Redis as jobs of BullMQ (docs/decisions/timers-are-rows.md). */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { ConnectionOptions } from "bullmq";
import { defineActor } from "../../actors/kernel/actor.ts";
import { schedule } from "../../actors/kernel/effect.ts";
import { message } from "../../actors/kernel/message.ts";
import { Queue } from "../../src/store/bullmq.ts";
import { openBlockingRedis } from "../../src/store/redis/connections.ts";
import { until } from "../harness/until.ts";
import { Harness } from "./harness.ts";

const harness = new Harness();

const sleeper = defineActor({
  kind: "sleeper",
  state: Type.Object({ due: Type.Number(), rung: Type.Array(Type.String()) }),
  messages: {
    /** As the former version left it: nothing of its timers is stored. */
    begin: message({ body: Type.Object({ due: Type.Number() }), reply: Type.Null() }),
    ring: message({ body: Type.Object({ by: Type.String() }) }),
  },
  timers: ({ due }) => [schedule("stated", due, "ring", { by: "stated" })],
  receive: {
    begin: (_, { due }) => ({ state: { due, rung: [] }, reply: null, effects: [] }),
    ring: (state, { by }) => ({
      state: { due: state?.due ?? 0, rung: [...(state?.rung ?? []), by] },
      effects: [],
    }),
  },
});
const keys = Array.from({ length: 12 }, (_, index) => `sleeper:${index}`);
const at = (key: string) => ({ kind: "sleeper", key, tenant: "acme" });

test("each owner takes over the timers of its actors, those that Redis lost among them", async () => {
  const { redisUrl, prefix, sql } = harness.stores;
  const first = await harness.node({ actors: [sleeper] });
  const later = Date.now() + 3_600_000;
  for (const key of keys) await first.runtime.ask(at(key), "begin", { due: later });
  await harness.stop(first);
  await sql`insert into runtime_rearm (kind, key, tenant) select kind, key, tenant from runtime_actors`;
  await sql`insert into runtime_rearm (kind, key, tenant) values ('sleeper', 'gone', 'acme')`;
  const connection = openBlockingRedis(redisUrl);
  const queue = new Queue("timers", { connection: connection as ConnectionOptions, prefix: `${prefix}:bull` });
  for (const [index, key] of keys.entries()) {
    const data = { ...at(key), timer: "by job", at: index % 2 === 0 ? later : 0, type: "ring", body: { by: "job" } };
    const jobId = `sleeper~${key.replaceAll(":", "%3A")}~by job`;
    await queue.add("timer", data, { jobId, delay: index % 2 === 0 ? 3_600_000 : 0 });
  }
  await harness.pair({ actors: [sleeper] });
  await until(async () => (await sql`select from runtime_timers`).length === keys.length * 1.5, { what: "the timers" });
  await until(async () => (await sql`select from runtime_rearm`).length === 0, { what: "the notes to be gone" });
  const rows = await sql<{ timer: string; count: number }[]>`
    select timer, count(*)::int as count from runtime_timers where due = ${later} group by timer order by timer`;
  expect([...rows]).toEqual([
    { timer: "by job", count: keys.length / 2 },
    { timer: "stated", count: keys.length },
  ]);
  await until(async () => (await queue.getDelayedCount()) + (await queue.getWaitingCount()) === 0, { what: "no job" });
  const rung = await sql<{ key: string }[]>`select key from runtime_actors where state like '%"rung":["job"]%'`;
  expect(rung).toHaveLength(keys.length / 2);
  await queue.close();
  connection.disconnect();
});
