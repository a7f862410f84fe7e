import { expect, test } from "bun:test";
import fc from "fast-check";
import { toolNames } from "../../../src/adapters/models/vendors/tool-names.ts";

const name = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 200 }),
  // Names that collide once they are made plain and cut.
  fc
    .array(fc.constantFrom(".", "_", "-", "a", "é", "aaaaaaaaaaaaaaaa", "_2"), { maxLength: 12 })
    .map((parts) => parts.join("")),
);

test("every name gets one of its own that vendors accept, and comes back", () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 150 }), (names) => {
      const map = toolNames(names);
      const sent = names.map((each) => map.toVendor(each));
      for (const each of sent) expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(new Set(sent).size).toBe(names.length);
      expect(sent.map((each) => map.fromVendor(each))).toEqual(names);
    }),
  );
});

test.each([
  [
    ["cmd.run", "fs.read"],
    ["cmd_run", "fs_read"],
  ],
  [
    ["a.b", "a_b", "a b"],
    ["a_b", "a_b_2", "a_b_3"],
  ],
  [
    ["x".repeat(70), "x".repeat(71)],
    ["x".repeat(64), `${"x".repeat(62)}_2`],
  ],
  [
    ["", "."],
    ["_", "__2"],
  ],
])("%j", (names, expected) => {
  const map = toolNames(names);
  expect(names.map((each) => map.toVendor(each))).toEqual(expected);
});

test("a name that was not sent stays as it is", () => {
  const map = toolNames(["cmd.run"]);
  expect(map.fromVendor("rm_rf")).toBe("rm_rf");
});
