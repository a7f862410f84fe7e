/** Members of many states at once. */
import { expect, test } from "bun:test";
import { at, Harness } from "./harness.ts";

const harness = new Harness();

async function store(key: string, state: string, tenant = "acme", kind = "counter"): Promise<void> {
  await harness.stores.sql`
    insert into runtime_actors (kind, key, tenant, partition, version, logs, state)
    values (${kind}, ${key}, ${tenant}, 0, 7, '{}', ${state})`;
}

test("only the members asked for come, and only of one's own actors", async () => {
  const { runtime } = await harness.node();
  await runtime.ask(at("live"), "add", { label: "x" });
  await store("some", '{"count":2,"seen":["a",{"b":null}],"other":{"count":9}}');
  await store("none", '{"other":1}');
  await store("foreign", '{"count":1}', "umbrella");
  await store("some", '{"count":5}', "acme", "meter");
  const keys = ["live", "some", "none", "foreign", "unknown", "some"];
  const found = await runtime.readMembers("counter", "acme", keys, ["count", "seen"]);
  const byKey = Object.fromEntries(found.map((one) => [one.key, one]));
  expect(found).toHaveLength(3);
  expect(byKey).toEqual({
    live: { key: "live", tenant: "acme", version: 1, state: { count: 1, seen: ["x"] } },
    some: { key: "some", tenant: "acme", version: 7, state: { count: 2, seen: ["a", { b: null }] } },
    none: { key: "none", tenant: "acme", version: 7, state: {} },
  });
  expect(await runtime.readMembers("counter", "acme", ["some"], [])).toMatchObject([{ state: {} }]);
  expect(await runtime.readMembers("counter", "acme", [], ["count"])).toEqual([]);
});

const hostile: readonly (readonly [what: string, value: unknown])[] = [
  ["a NUL", "a\0b"],
  ["a lone surrogate", "\ud800 and \udfff"],
  ["both, far down", [{ deep: ["\0", "\ud83d"] }]],
  ["text that looks like an escape", "\\u0000 \\ud800"],
  ["quotes, line ends and signs", '"\\\n\u2028😀'],
  ["numbers as they are", [1e21, 0.1, -0, 12345678901234567000]],
];

test.each([...hostile])("%s in a state is no obstacle, wherever it stands", async (_, value) => {
  const { runtime } = await harness.node();
  const named = { count: value, seen: 1, ["__proto__"]: value, other: "x" };
  const state = JSON.stringify(Object.fromEntries([...Object.entries(named), ["__proto__", value]]));
  await store("asked", state);
  await store("beside", JSON.stringify({ count: 1, other: value, [JSON.stringify(value)]: 1 }));
  const members = ["count", "__proto__"];
  const found = await runtime.readMembers("counter", "acme", ["asked", "beside"], members);
  const byKey = new Map(found.map((one) => [one.key, JSON.stringify(one.state)]));
  expect(byKey.get("asked")).toBe(JSON.stringify(Object.fromEntries(members.map((name) => [name, value]))));
  expect(byKey.get("beside")).toBe('{"count":1}');
});

test("members behind much else are found, and nothing of it is read for earlier ones", async () => {
  const { runtime } = await harness.node();
  const bulk = "x".repeat(200_000);
  const keys = ["before", "behind", "absent"];
  await store("before", JSON.stringify({ seen: ["a,}", { b: '"]' }], count: -1.5e3, bulk }).slice(0, -2));
  await store("behind", JSON.stringify({ seen: [], bulk, count: 2 }));
  await store("absent", JSON.stringify({ seen: [], bulk }));
  const found = await runtime.readMembers("counter", "acme", keys, ["count", "seen"]);
  const byKey = Object.fromEntries(found.map(({ key, state }) => [key, state]));
  // The text of the first one is broken at its end.
  expect(byKey).toEqual({
    before: { seen: ["a,}", { b: '"]' }], count: -1500 },
    behind: { seen: [], count: 2 },
    absent: { seen: [] },
  });
});
