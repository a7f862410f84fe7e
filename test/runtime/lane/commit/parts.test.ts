/** Which parts of a commit share its one statement. */
import { expect, test } from "bun:test";
import { partsOf } from "../../../../src/runtime/lane/commit/commit.ts";
import { commitOf } from "./sample-commit.ts";

const committer = { node: "n", host: "h" };
const deletes = (parts: readonly { readonly text: string }[]) =>
  parts.filter(({ text }) => /^delete from runtime_(actors|logs)/.test(text)).length;

test("an actor that ends goes with the commit's one statement unless it begins again", () => {
  const ends = partsOf(commitOf({ ended: [{ kind: "counter", key: "b" }] }), committer);
  expect([deletes(ends.ahead), deletes(ends.others)]).toEqual([0, 2]);
  const again = partsOf(commitOf({ ended: [{ kind: "counter", key: "a" }] }), committer);
  expect([deletes(again.ahead), deletes(again.others)]).toEqual([2, 0]);
});
