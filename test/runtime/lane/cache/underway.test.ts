/** What is known to be under way without a look at the store. */
import { expect, test } from "bun:test";
import { Underway } from "../../../../src/runtime/lane/cache/underway.ts";
import type { ActivityRow } from "../../../../src/runtime/lane/commit/activities.ts";
import { partitionOf } from "../../../../src/runtime/mailbox/partition.ts";

const partitions = 8;
const row = (id: string, key = "a") => ({ id, kind: "counter", key }) as ActivityRow;
const nothing = { activities: [], settled: [], abandoned: [] };

test("work is known from the commit that asks for it to the one that ends it", () => {
  const underway = new Underway(partitions);
  expect(underway.has("one")).toBe(false);
  underway.note({ ...nothing, activities: [row("one"), row("two"), row("three")] });
  underway.note({ ...nothing, settled: ["one"], abandoned: ["two"] });
  expect(["one", "two", "three"].map((id) => underway.has(id))).toEqual([false, false, true]);
});

test("work of partitions that are given up is looked up again", () => {
  const underway = new Underway(partitions);
  const keys = ["a", "b", "c", "d", "e", "f"];
  underway.note({ ...nothing, activities: keys.map((key) => row(key, key)) });
  const gone = partitionOf("counter", "a", partitions);
  underway.forget(new Set([gone]));
  const kept = keys.filter((key) => partitionOf("counter", key, partitions) !== gone);
  expect(keys.filter((key) => underway.has(key))).toEqual(kept);
  expect(kept.length).toBeGreaterThan(0);
});

test("of more work than is remembered the oldest is looked up again", () => {
  const underway = new Underway(partitions);
  const ids = Array.from({ length: 20_000 }, (_, number) => `work-${number}`);
  underway.note({ ...nothing, activities: ids.map((id) => row(id)) });
  expect(ids.filter((id) => underway.has(id))).toEqual(ids.slice(-16_384));
});
