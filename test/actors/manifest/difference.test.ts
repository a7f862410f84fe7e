/** How two documents differ. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { differenceOf } from "../../../actors/manifest/difference.ts";

test("members that are new, gone and other", () => {
  const from = { spec: { a: 1, b: { c: "x" }, list: [1, 2, { n: 1 }], gone: { deep: 1 } } };
  const to = { spec: { a: 1, b: { c: "y" }, list: [1, 3], new: [1], d: null }, more: 1 };
  expect(differenceOf(from, to)).toEqual({
    added: ["spec.new", "spec.d", "more"],
    removed: ["spec.list.2", "spec.gone"],
    changed: [
      { path: "spec.b.c", from: "x", to: "y" },
      { path: "spec.list.1", from: 2, to: 3 },
    ],
  });
});

test("another kind of value is a change of the whole", () => {
  expect(differenceOf({ a: [1] }, { a: { 0: 1 } }).changed).toEqual([{ path: "a", from: [1], to: { 0: 1 } }]);
  expect(differenceOf(1, 2)).toEqual({ added: [], removed: [], changed: [{ path: "", from: 1, to: 2 }] });
});

test("a document does not differ from itself, and one way is the other turned round", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [mine, theirs] = [one as Json, other as Json];
      expect(differenceOf(mine, JSON.parse(JSON.stringify(mine)))).toEqual({ added: [], removed: [], changed: [] });
      const [there, back] = [differenceOf(mine, theirs), differenceOf(theirs, mine)];
      expect([...there.added].sort()).toEqual([...back.removed].sort());
      expect(there.changed.map(({ path }) => path).sort()).toEqual(back.changed.map(({ path }) => path).sort());
    }),
  );
});
