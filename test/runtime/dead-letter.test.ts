/** Messages that cannot be handled never block their partition (G7). */
import { expect, test } from "bun:test";
import type { Json } from "../../actors/kernel/json.ts";
import { MessageRejected, type Projection } from "../../src/runtime/index.ts";
import { until } from "../harness/until.ts";
import { at, Harness, stateOf } from "./harness.ts";

const harness = new Harness();

const rows: readonly [what: string, type: string, body: { readonly [name: string]: Json }, error: RegExp][] = [
  ["a handler that throws", "fail", {}, /always throws/],
  ["a body that does not fit its schema", "note", { text: 7 }, /text/],
  ["a turn that cannot be stored", "unstorable", {}, /cannot be stored/],
  ["a tell to a name that cannot be stored", "spread", { to: ["a\0b"], label: "x" }, /cannot be stored/],
];

test.each([...rows])("%s becomes a dead letter; its neighbours go on", async (_what, type, body, error) => {
  const { runtime } = await harness.node({ partitions: 1 });
  const before = runtime.ask(at("a"), "add", { label: "before" });
  const rejected = runtime.ask(at("a"), type, body);
  rejected.catch(() => {});
  const after = Promise.all([runtime.ask(at("a"), "add", { label: "after" }), runtime.ask(at("b"), "add", {})]);
  expect(await before).toBe(1);
  await expect(rejected).rejects.toBeInstanceOf(MessageRejected);
  expect(await after).toEqual([2, 1]);
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["before", "after"]);
  const [letter, ...more] = await runtime.deadLetters.list({ tenant: "acme", kind: "counter" });
  expect(more).toEqual([]);
  expect(letter).toMatchObject({ kind: "counter", key: "a", tenant: "acme", type, body, replayed_at: null });
  expect(letter?.error).toMatch(error);
  expect(await runtime.deadLetters.inspect(letter?.id ?? "")).toEqual(letter ?? null);
  expect(await runtime.deadLetters.list({ tenant: "umbrella" })).toEqual([]);
});

test("a dead letter is sent again once", async () => {
  const { runtime } = await harness.node();
  await expect(runtime.ask(at("a"), "fail", {})).rejects.toThrow("always throws");
  const [letter] = await runtime.deadLetters.list({});
  const id = letter?.id ?? "";
  expect(await Promise.all([runtime.deadLetters.replay(id), runtime.deadLetters.replay(id)])).toContain(true);
  expect(await runtime.deadLetters.replay(id)).toBe(false);
  await until(async () => (await runtime.deadLetters.list({})).length === 2, { what: "it to fail again, once" });
  expect((await runtime.deadLetters.inspect(id))?.replayed_at).not.toBeNull();
  for (const unknown of ["", "nonsense", crypto.randomUUID()]) {
    expect(await runtime.deadLetters.replay(unknown)).toBe(false);
    expect(await runtime.deadLetters.inspect(unknown)).toBeNull();
  }
});

test("a stored state that does not fit its schema keeps its messages; others go on", async () => {
  const { runtime } = await harness.node({ partitions: 1 });
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    values ('counter', 'old', 'acme', 0, 1, '{}', '{"count":"many"}')`;
  await expect(runtime.ask(at("old"), "get", {})).rejects.toThrow("stored state");
  await expect(runtime.ask(at("old"), "get", {})).rejects.toThrow("stored state");
  expect(await runtime.ask(at("a"), "add", {})).toBe(1);
});

const mirror: Projection = {
  kind: "counter",
  project: (changes) =>
    changes.map(({ key, after }) => ({
      text: "insert into mirrored (key, count) values ($1, $2) on conflict (key) do update set count = excluded.count",
      // A label `bad` stands for a feature's mistake that only the driver notices.
      parameters: [
        key,
        (after as { seen?: string[] } | null)?.seen?.includes("bad") === true
          ? undefined
          : ((after as { count: number } | null)?.count ?? -1),
      ],
    })),
};

test("projection rows commit with the state, or neither does", async () => {
  await harness.stores.sql`create table mirrored (key text primary key, count int not null)`;
  const { runtime } = await harness.node({ projections: [mirror], partitions: 1 });
  const mirrored = async (key: string) =>
    (await harness.stores.sql`select count from mirrored where key = ${key}`)[0]?.count as number;
  for (let count = 1; count <= 3; count++) {
    await runtime.ask(at("a"), "add", {});
    expect(await mirrored("a")).toBe(count);
  }
  await expect(runtime.ask(at("a"), "add", { label: "bad" })).rejects.toBeInstanceOf(MessageRejected);
  expect(await stateOf(runtime, "a")).toMatchObject({ count: 3, seen: [] });
  expect(await mirrored("a")).toBe(3);
  expect(await runtime.ask(at("a"), "add", {})).toBe(4);
  await runtime.ask(at("a"), "end", {});
  expect(await mirrored("a")).toBe(-1);
});
