/** Nodes of two versions on one database: what one does not know waits for the other, and is never a dead letter. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineActivity, outcomeOf } from "../../actors/kernel/activity.ts";
import { type AnyActorDefinition, defineActor } from "../../actors/kernel/actor.ts";
import { perform } from "../../actors/kernel/effect.ts";
import type { Json } from "../../actors/kernel/json.ts";
import { AnyJson } from "../../actors/kernel/json.ts";
import { defineProtocol, message } from "../../actors/kernel/message.ts";
import { implement } from "../../src/runtime/index.ts";
import { ParkedMessages } from "../../src/runtime/versions/parked.ts";
import { counter, jsonActivity } from "../harness/runtime/counter.ts";
import { until } from "../harness/until.ts";
import { at, Harness, manyKeys, stateOf } from "./harness.ts";

const harness = new Harness();

/** The counter of a version that does not know `note` yet. */
const { note: _note, ...olderMessages } = counter.messages;
const older: AnyActorDefinition = { ...counter, messages: olderMessages };

const noteBody = { text: "x" };
const parkedTypes = async () =>
  (await harness.stores.sql`select content from runtime_parked order by seq`).map(
    ({ content }) => JSON.parse(content)[5],
  );

test("an unknown message waits, later ones of its actor behind it", async () => {
  const first = await harness.node({ partitions: 1, actors: [older] });
  await first.runtime.tell(at("a"), "add", { label: "1" });
  await first.runtime.tell(at("a"), "note", noteBody);
  await first.runtime.tell(at("a"), "add", { label: "2" });
  await first.runtime.tell({ kind: "ghost", key: "g", tenant: "acme" }, "appear", {});
  expect(await first.runtime.ask(at("b"), "add", {})).toBe(1);
  await first.runtime.tell(at("a"), "add", { label: "3" });
  await until(async () => (await parkedTypes()).length === 4, { what: "four messages to wait" });
  expect((await parkedTypes()).filter((type) => type !== "appear")).toEqual(["note", "add", "add"]);
  expect(await stateOf(first.runtime, "a")).toMatchObject({ seen: ["1"] });

  // One that knows no more than the first leaves them where they are.
  await harness.stop(first);
  const second = await harness.node({ partitions: 1, actors: [older] });
  await second.runtime.tell(at("a"), "add", { label: "4" });
  await until(async () => (await parkedTypes()).length === 5, { what: "the new message to wait as well" });
  await harness.stop(second);

  const third = await harness.node({ partitions: 1 });
  await until(async () => (await parkedTypes()).join() === "appear", { what: "the known ones to be taken" });
  expect(await stateOf(third.runtime, "a")).toMatchObject({ count: 5, seen: ["1", "2", "3", "4"] });
  expect(await third.runtime.ask(at("a"), "add", { label: "5" })).toBe(6);
  expect(await third.runtime.logLength(at("a"), "events")).toBe(1);
  expect(await third.runtime.deadLetters.list({})).toEqual([]);
});

const State = Type.Object({ count: Type.Integer() });
const LaterState = Type.Object({ count: Type.Integer(), unit: Type.Optional(Type.String()) });
const bump = { bump: message({ body: Type.Object({ by: Type.Integer() }), reply: Type.Integer() }) };
const laterBump = {
  bump: message({
    body: Type.Object({ by: Type.Union([Type.Integer(), Type.Literal("twice")]), unit: Type.Optional(Type.String()) }),
    reply: Type.Integer(),
  }),
};
const meter = defineActor({
  ...defineProtocol({ kind: "meter", messages: bump }),
  state: State,
  receive: {
    bump: (state, { by }) => {
      const count = (state?.count ?? 0) + by;
      return { state: { count }, reply: count, effects: [] };
    },
  },
});
const laterMeter = defineActor({
  ...defineProtocol({ kind: "meter", version: 2, messages: laterBump }),
  state: LaterState,
  receive: {
    bump: (state, { by, unit = state?.unit }) => {
      const count = (state?.count ?? 0) + (by === "twice" ? (state?.count ?? 0) : by);
      return { state: unit === undefined ? { count } : { count, unit }, reply: count, effects: [] };
    },
  },
});
const meterAt = (key: string) => ({ kind: "meter", key, tenant: "acme" });

test("a state or body of a later version waits, a damaged one does not", async () => {
  const later = await harness.node({ partitions: 1, actors: [laterMeter] });
  await later.runtime.of(laterMeter).at("acme", "with-unit").ask("bump", { by: 1, unit: "m" });
  await later.runtime.of(laterMeter).at("acme", "without").ask("bump", { by: 1 });
  await harness.stop(later);
  const { runtime } = await harness.node({ partitions: 1, actors: [meter] });
  // This version would lose the unit.
  await runtime.tell(meterAt("with-unit"), "bump", { by: 1 });
  expect(await runtime.ask(meterAt("without"), "bump", { by: 1 })).toBe(2);
  await runtime.of(laterMeter).at("acme", "without").tell("bump", { by: "twice" });
  await until(async () => (await parkedTypes()).length === 2, { what: "both to wait" });
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state, format)
    values ('meter', 'newer', 'acme', 0, 1, '{}', '{"total":1}', 2), ('meter', 'damaged', 'acme', 0, 1, '{}', '{}', 1)`;
  await expect(runtime.of(meter).at("acme", "newer").read()).rejects.toThrow("A later version of the service");
  await expect(runtime.of(meter).at("acme", "damaged").read()).rejects.toThrow("/count");
  await expect(runtime.ask(meterAt("damaged"), "bump", { by: 1 })).rejects.toThrow("stored state");
  await expect(runtime.ask(meterAt("fine"), "bump", { by: "twice" })).rejects.toThrow("/by");
  expect(await runtime.deadLetters.list({})).toHaveLength(2);

  await runtime.drain();
  const again = await harness.node({ actors: [laterMeter], partitions: 1 });
  await until(async () => (await parkedTypes()).length === 0, { what: "both to be taken" });
  expect((await again.runtime.read(meterAt("with-unit")))?.state).toEqual({ count: 2, unit: "m" });
  expect((await again.runtime.read(meterAt("without")))?.state).toEqual({ count: 4 });
});

test("an unknown effect is kept, and carried out where it is known", async () => {
  const first = await harness.node({ partitions: 1 });
  await first.runtime.ask(at("a"), "add", {});
  await harness.stop(first);
  const { sql } = harness.stores;
  const told = JSON.stringify(["tell", "counter", "a", "acme", "add", { label: "late" }]);
  await sql`update runtime_partitions set outbox_seq = 2`;
  await sql`insert into runtime_outbox (partition, seq, effect) values (0, 1, '["sing","counter","a"]'), (0, 2, ${told})`;
  const second = await harness.node({ partitions: 1 });
  await until(async () => (await stateOf(second.runtime, "a"))?.seen.join() === "late", { what: "the known effect" });
  await harness.stop(second);
  const [kept, ...more] = await sql`select need, content, effect_seq from runtime_parked`;
  expect(more).toEqual([]);
  expect(kept).toMatchObject({ need: '["effect","sing"]', content: '["sing","counter","a"]', effect_seq: "1" });
  // As if the next version called it so.
  await sql`update runtime_parked set content = ${told.replace("late", "later").replace('"a"', '"b"')}`;
  const third = await harness.node({ partitions: 1 });
  await until(async () => (await stateOf(third.runtime, "b"))?.seen.join() === "later", { what: "the kept effect" });
});

test("effects that waited go back to the outbox only for the owner", async () => {
  const { sql } = harness.stores;
  await sql`insert into runtime_partitions (partition, epoch, owner, outbox_seq) values (0, 5, 'successor', 3)`;
  await sql`
    insert into runtime_parked (partition, kind, key, tenant, need, content, effect_seq)
    values (0, '', '', '', '["effect","tell"]', '["tell","counter","a","acme","add",{}]', 1)`;
  expect(await new ParkedMessages(sql).begin([{ partition: 0, epoch: 4 }])).toEqual(new Map());
  const outbox = async () => [...(await sql`select partition, seq::int from runtime_outbox`)];
  expect(await outbox()).toEqual([]);
  expect(await new ParkedMessages(sql).begin([{ partition: 0, epoch: 5 }])).toEqual(new Map([[0, 1]]));
  expect(await outbox()).toEqual([{ partition: 0, seq: 4 }]);
});

test("an unknown effect with a receiver is not taken for a message", async () => {
  const { sql } = harness.stores;
  const { runtime } = await harness.node({ partitions: 1 });
  await runtime.ask(at("a"), "add", {});
  const effect = (name: string, label: string) => JSON.stringify([name, "counter", "a", "acme", "add", { label }]);
  // Of a partition that another node would own.
  await sql`
    insert into runtime_outbox (partition, seq, effect, target)
    values (7, 1, ${effect("sing", "sung")}, 0), (7, 2, ${effect("tell", "told")}, 0)`;
  await until(async () => (await stateOf(runtime, "a"))?.seen.includes("told"), { what: "the message" });
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["told"]);
  expect([...(await sql`select seq::int from runtime_outbox`)]).toEqual([{ seq: 1 }]);
});

test("what a node knows is written again when it was lost", async () => {
  const { sql } = harness.stores;
  const { runtime } = await harness.node({ actors: [older] });
  await sql`delete from runtime_capabilities`;
  await until(async () => (await sql`select 1 from runtime_capabilities`).length === 1, { what: "the row" });
  await harness.node();
  // The other one, of another version, leaves it its share.
  await until(async () => (await runtime.status()).partitions === 4, { what: "two fair shares" });
});

test("work that a node does not know is left to one that does", async () => {
  const first = await harness.node();
  for (const key of manyKeys) await first.runtime.ask(at(key), "work", { activity: "echo", id: key, input: key });
  const echo = implement(jsonActivity("echo"), { concurrency: 8, retry: { attempts: 1, firstDelayMs: 1 } }, (input) =>
    Promise.resolve(input as Json),
  );
  await harness.node({ activities: [echo] });
  for (const key of manyKeys) {
    await until(async () => (await stateOf(first.runtime, key))?.outcomes.join() === `${key}:true`, {
      what: "the outcome",
    });
  }
});

const Units = Type.Object({ unit: Type.String() });
const unitWork = defineActivity({
  name: "units",
  input: Type.Object({}, { additionalProperties: false }),
  output: AnyJson,
});
const laterUnitWork = defineActivity({ name: "units", version: 2, input: Units, output: AnyJson });
const asker = defineActor({
  ...defineProtocol({
    kind: "asker",
    messages: { begin: message({ body: Type.Object({}) }), ended: message({ body: outcomeOf(laterUnitWork) }) },
  }),
  state: Type.Object({ ended: Type.Array(Type.Boolean()) }),
  receive: {
    begin: () => ({
      state: { ended: [] },
      effects: [perform(laterUnitWork, { unit: "m" }, { id: "units-1", then: "ended" as const })],
    }),
    ended: (state, { ok }) => ({ state: { ended: [...(state?.ended ?? []), ok] }, effects: [] }),
  },
});

test("work of a later version waits for a node that knows its input", async () => {
  const options = { concurrency: 1, retry: { attempts: 1, firstDelayMs: 1 } };
  const echo = (input: unknown) => Promise.resolve(input as Json);
  const first = await harness.node({ actors: [asker], activities: [implement(unitWork, options, echo)] });
  await first.runtime.of(asker).at("acme", "a").tell("begin", {});
  const rows = () => harness.stores.sql`select format, node, attempt from runtime_activities`;
  await until(async () => (await rows()).length === 1, { what: "the work to be written" });
  const second = await harness.node({ actors: [asker], activities: [implement(unitWork, options, echo)] });
  expect([...(await rows())]).toEqual([{ format: 2, node: null, attempt: 0 }]);
  await harness.node({ actors: [asker], activities: [implement(laterUnitWork, options, echo)] });
  const ended = async () => (await second.runtime.of(asker).at("acme", "a").read())?.ended;
  await until(async () => (await ended())?.join() === "true", { what: "the outcome" });
});

test("a partition goes to a node that knows what came there, until that one is gone", async () => {
  const known = await harness.node({ actors: [older] });
  const later = await harness.node();
  await until(async () => (await later.runtime.status()).partitions === 4, { what: "two fair shares" });
  // Through either node, to actors of both.
  const asked = manyKeys.map((key, index) =>
    (index % 2 === 0 ? known : later).runtime.ask(at(key), "note", noteBody, { deadlineMs: 20_000 }),
  );
  expect(await Promise.all(asked)).toEqual(manyKeys.map(() => 1));
  expect(await known.runtime.deadLetters.list({})).toEqual([]);
  await until(async () => (await parkedTypes()).length === 0, { what: "nothing to wait" });
  const bound = await harness.stores.sql`select distinct partition from runtime_needs`;
  expect(bound.length).toBeGreaterThan(0);
  const { nodeId } = later.runtime;
  const elsewhere = await harness.stores.sql`
    select 1 from runtime_needs n join runtime_partitions p using (partition) where p.owner is distinct from ${nodeId}`;
  expect([...elsewhere]).toEqual([]);
  // Messages that both know go on at the older one when it is alone.
  await harness.stop(later);
  for (const key of manyKeys) expect(await known.runtime.ask(at(key), "add", {})).toBe(2);
});

test("what partitions need is forgotten once all nodes know it", async () => {
  const { runtime } = await harness.node({ partitions: 1, actors: [older] });
  await runtime.tell(at("a"), "note", noteBody);
  await until(async () => (await parkedTypes()).length === 1, { what: "the message to wait" });
  await runtime.drain();
  await harness.node({ partitions: 1 });
  await until(async () => (await harness.stores.sql`select 1 from runtime_needs`).length === 0, {
    what: "the need to be forgotten",
  });
  expect(await parkedTypes()).toEqual([]);
});
