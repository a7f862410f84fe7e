/** Which people are asked about a call (docs/reference/approvals.md). */
import { expect, test } from "bun:test";
import { askedAnew, asks, isGranted } from "../../../../actors/policy/security/asked.ts";
import { fromContext, fromManifest } from "../../execution/loop/asked-calls.ts";

test("a condition with a fault asks", () => {
  const when = `${Array(50).fill("a != b").join(" || ")} || a == b`;
  const long = "x".repeat(5_000_000);
  expect(asks({ when }, { a: long, b: `${long}` })).toBe(true);
  expect(asks({ when: "size > 3" }, { size: 2 })).toBe(false);
  // Of a context that a later version has written.
  expect(asks({ when: "size >>" }, { size: 2 })).toBe(true);
});

test("a grant answers for who asked, for the tool and its arguments", () => {
  const ask = fromContext({}, 2);
  const grant = { tool: "fs.write", from: JSON.stringify(["build", 2]), sha256: "a" };
  expect(isGranted([grant], "fs.write", ask, "a")).toBe(true);
  for (const [tool, by, sha256] of [
    ["fs.edit", ask, "a"],
    ["fs.write", fromContext({}, 1), "a"],
    ["fs.write", fromManifest(), "a"],
    ["fs.write", ask, "b"],
    ["fs.write", ask, null],
  ] as const) {
    expect(isGranted([grant], tool, by, sha256)).toBe(false);
  }
  expect(isGranted([{ ...grant, sha256: null }], "fs.write", ask, "b")).toBe(true);
});

test("of two that ask the same, one who has edited answers for one", () => {
  const ask = fromManifest({ quorum: 2 });
  expect(askedAnew(ask, [ask, fromContext(), ask])).toEqual({ asks: [ask, fromContext(), ask], agreed: 1 });
  expect(askedAnew(ask, [fromManifest()])).toEqual({ asks: [fromManifest()], agreed: 0 });
  expect(askedAnew(undefined, [ask])).toEqual({ asks: [ask], agreed: 0 });
});
