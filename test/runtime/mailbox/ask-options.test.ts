/** Asks with options: a `fresh` one goes to an actor whose key is new, and skips the mailbox where that is possible. */
import { expect, test } from "bun:test";
import { RuntimeUnavailable } from "../../../src/runtime/index.ts";
import { counter } from "../../harness/runtime/counter.ts";
import { at, Harness, stateOf } from "../harness.ts";

const harness = new Harness();
const fresh = (count: number) => Array.from({ length: count }, () => crypto.randomUUID());

test("new actors are made wherever their partition is held, each once and in the store", async () => {
  const nodes = await harness.pair();
  const keys = fresh(64);
  const replies = await Promise.all(
    keys.map((key, index) =>
      (nodes[index % 2] ?? nodes[0]).runtime.ask(at(key), "add", { label: key }, { fresh: true }),
    ),
  );
  expect(replies).toEqual(keys.map(() => 1));
  for (const key of keys) expect((await stateOf(nodes[0].runtime, key))?.seen).toEqual([key]);
});

test("messages that follow find the actor as it was left", async () => {
  const { runtime } = await harness.node();
  const keys = fresh(16);
  await Promise.all(keys.map((key) => runtime.ask(at(key), "add", {}, { fresh: true })));
  expect(await Promise.all(keys.map((key) => runtime.ask(at(key), "add", {})))).toEqual(keys.map(() => 2));
});

test("a commit that is refused leaves nothing behind, and the caller is told at once", async () => {
  const { runtime } = await harness.node({ leaseTtlMs: 60_000 });
  const keys = fresh(24);
  // As if another node had taken every partition: none of ours may commit.
  await harness.stores.sql`update runtime_partitions set epoch = epoch + 1`;
  const outcomes = await Promise.allSettled(
    keys.map((key) => runtime.ask(at(key), "add", {}, { fresh: true, deadlineMs: 20_000 })),
  );
  for (const [index, outcome] of outcomes.entries()) {
    const stored = await stateOf(runtime, keys[index] ?? "");
    if (outcome.status === "fulfilled") expect(stored?.count).toBe(1);
    else {
      expect(outcome.reason).toBeInstanceOf(RuntimeUnavailable);
      expect(stored).toBeNull();
    }
  }
  expect(outcomes.some(({ status }) => status === "rejected")).toBe(true);
  expect(await runtime.ask(at(crypto.randomUUID()), "add", {}, { fresh: true })).toBe(1);
});

test("an address that cannot be stored is refused, not lost", async () => {
  const { runtime } = await harness.node();
  await expect(runtime.ask(at("nul\0key"), "add", {}, { fresh: true })).rejects.toThrow();
});

test("a direct question finds the actor's state on any node and is answered once", async () => {
  const nodes = await harness.pair();
  const keys = fresh(32);
  await Promise.all(keys.map((key) => nodes[0].runtime.ask(at(key), "add", {})));
  const replies = await Promise.all(
    keys.flatMap((key) => nodes.map((node) => node.runtime.ask(at(key), "add", {}, { unordered: true }))),
  );
  expect(replies.toSorted()).toEqual([...keys.map(() => 2), ...keys.map(() => 3)]);
  for (const key of keys) expect((await stateOf(nodes[0].runtime, key))?.count).toBe(3);
});

test("a direct question and messages of the mailbox at once: each counts once", async () => {
  const { runtime } = await harness.node();
  const [key = ""] = fresh(1);
  const asked = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 0 ? runtime.ask(at(key), "add", {}) : runtime.ask(at(key), "add", {}, { unordered: true }),
  );
  const replies = (await Promise.all(asked)) as number[];
  expect(replies.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
});

test("a direct question finds an actor that no node has in memory, here or elsewhere", async () => {
  const earlier = await harness.node();
  const keys = fresh(32);
  await Promise.all(keys.map((key) => earlier.runtime.ask(at(key), "add", {})));
  await earlier.runtime.drain();
  const [{ runtime }] = await harness.pair();
  const replies = await Promise.all(keys.map((key) => runtime.ask(at(key), "add", {}, { unordered: true })));
  expect(replies).toEqual(keys.map(() => 2));
});

test("a repeatable question is answered even while the partition moves", async () => {
  const { runtime } = await harness.node({ leaseTtlMs: 60_000 });
  const keys = fresh(24);
  await harness.stores.sql`update runtime_partitions set epoch = epoch + 1`;
  // None of ours may commit; the first to be refused has the partitions taken anew.
  const replies = await Promise.all(
    keys.map((key) => runtime.ask(at(key), "add", {}, { repeatable: true, deadlineMs: 20_000 })),
  );
  expect(replies).toEqual(keys.map(() => 1));
});

test("an id that a node makes belongs to an actor of its own partitions", async () => {
  for (const { runtime } of await harness.pair()) {
    const counters = runtime.of(counter);
    const keys = Array.from({ length: 50 }, () => counters.newId());
    expect(keys.filter((key) => !counters.isHere(key))).toEqual([]);
    expect(new Set(keys).size).toBe(keys.length);
  }
});
