/** What readers see of states: the listed members alone, and the whole of what was split. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../actors/kernel/json.ts";
import { joinState, splitState } from "../../src/runtime/reads/listed.ts";
import { counter } from "../harness/runtime/counter.ts";
import { at, Harness, stateOf } from "./harness.ts";

const harness = new Harness();
const listing = { ...counter, listed: ["count", "seen"] };

async function store(key: string, state: string, tenant = "acme", kind = "counter"): Promise<void> {
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    values (${kind}, ${key}, ${tenant}, 0, 7, '{}', ${state})`;
}

test("listed members are stored apart, read alone, and part of the whole state", async () => {
  const { runtime } = await harness.node({ actors: [listing] });
  await runtime.ask(at("live"), "add", { label: "x" });
  const [row] = await harness.stores.sql`select listed, state from runtime_actors where key = 'live'`;
  expect([JSON.parse(row?.listed), JSON.parse(row?.state)]).toEqual([
    { count: 1, seen: ["x"] },
    { waiting: [], outcomes: [] },
  ]);
  expect(await runtime.readListed(listing, "acme", ["live"])).toEqual([
    { key: "live", tenant: "acme", version: 1, format: 1, state: { count: 1, seen: ["x"] } },
  ]);
  expect(await stateOf(runtime, "live")).toMatchObject({ count: 1, seen: ["x"], outcomes: [] });
  expect(await runtime.readMany("counter", "acme", ["live"])).toMatchObject([{ state: { count: 1, outcomes: [] } }]);
});

test("an actor that leaves memory comes back whole", async () => {
  const { runtime } = await harness.node({ actors: [listing], cachedActors: 1, actorIdleMs: 1 });
  for (const label of ["a", "b", "c"]) {
    for (const key of ["one", "other"]) await runtime.ask(at(key), "add", { label });
    await runtime.ask(at("one"), "note", { text: label });
  }
  expect(await stateOf(runtime, "one")).toMatchObject({ count: 6, seen: ["a", "b", "c"] });
  expect(await runtime.logLength(at("one"), "events")).toBe(3);
});

test("only one's own actors are read, a state stored whole among them", async () => {
  const { runtime } = await harness.node();
  await store("whole", '{"count":2,"other":1}');
  await store("foreign", '{"count":1}', "umbrella");
  await store("whole", '{"count":5}', "acme", "meter");
  const keys = ["whole", "foreign", "unknown", "whole"];
  const upgrade = (stored: Json): Json => ({ ...(stored as object), later: true });
  expect(await runtime.readListed({ kind: "counter", upgrade }, "acme", keys)).toEqual([
    { key: "whole", tenant: "acme", version: 7, format: 1, state: { count: 2, other: 1, later: true } },
  ]);
  expect(await runtime.readListed(counter, "acme", [])).toEqual([]);
});

test("the log of an unknown or foreign actor has no entries", async () => {
  const { runtime } = await harness.node();
  await runtime.ask(at("mine"), "note", { text: "x" });
  expect(await runtime.logLength(at("mine"), "other")).toBe(0);
  expect(await runtime.logLength(at("mine", "umbrella"), "events")).toBe(0);
  expect(await runtime.logLength(at("none"), "events")).toBe(0);
});

test("a split state is the same once it is joined", () => {
  const state = fc.dictionary(
    fc.string().filter((name) => name !== "__proto__"),
    fc.jsonValue({ maxDepth: 3 }),
  );
  fc.assert(
    fc.property(state, fc.array(fc.string()), fc.func(fc.boolean()), (value, others, chosen) => {
      const whole = JSON.parse(JSON.stringify(value)) as { readonly [name: string]: Json };
      const listed = new Set([...Object.keys(whole).filter((name) => chosen(name)), ...others]);
      const stored = splitState(whole, listed);
      expect(joinState(stored)).toEqual(whole);
      expect(Object.keys(JSON.parse(stored.listed ?? "")).every((name) => listed.has(name))).toBe(true);
      expect(Object.keys(JSON.parse(stored.state)).some((name) => listed.has(name))).toBe(false);
    }),
  );
});
