/** How much of the store a batch brings into memory. */
import { expect, test } from "bun:test";
import { fittingOf } from "../../../../src/runtime/lane/cache/loading.ts";
import { loadBatch } from "../../../../src/runtime/lane/journal.ts";
import type { Delivery } from "../../../../src/runtime/mailbox/mailbox.ts";
import { Harness } from "../../harness.ts";

const harness = new Harness();

test("actors whose states do not fit with the others are left for the next batch", async () => {
  const { sql } = harness.stores;
  const names = ["c", "a", "b", "d"];
  for (const key of names) {
    const state = JSON.stringify({ text: key.repeat(300_000) });
    await sql`
      insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
      values ('counter', ${key}, 'acme', 0, 1, '{}', ${state})`;
  }
  const load = async (keys: readonly string[], most: number) => {
    const actors = keys.map((key) => ({ kind: "counter", key }));
    const { rows, left } = await loadBatch(sql, actors, [], most);
    return [
      rows
        .map(({ key }) => key)
        .sort()
        .join(""),
      [...left].sort().join(),
    ];
  };
  expect(await load(names, 500_000)).toEqual(["ac", "counter/b,counter/d"]);
  expect(await load(names, 10_000_000)).toEqual(["abcd", ""]);
  // One is loaded, however large.
  expect(await load(["d", "unknown"], 1)).toEqual(["d", ""]);
});

test("a batch ends before the first message whose actor was left", () => {
  const deliveries = ["a", "b", "c", "b"].map((key) => ({ envelope: { kind: "counter", key } }) as Delivery);
  const [fitting, others] = fittingOf(deliveries, new Set(["counter/b"]));
  expect([fitting.length, others.length]).toEqual([1, 3]);
  expect(fittingOf(deliveries, new Set())).toEqual([deliveries, []]);
});
