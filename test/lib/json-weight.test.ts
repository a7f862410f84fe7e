/** How much memory a JSON value is taken to need. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isObject, type Json } from "../../actors/kernel/json.ts";
import { jsonWeight } from "../../src/lib/json-weight.ts";

/** Strings and names count their characters, everything else eight. */
function weightOf(value: Json): number {
  if (typeof value === "string") return value.length;
  const members = isObject(value) ? Object.entries(value) : Array.isArray(value) ? value.map((one) => ["", one]) : [];
  return members.reduce((sum, [name, member]) => sum + name.length + weightOf(member), 8);
}

test("a value weighs its characters, and a little for each number, member and element", () => {
  expect(jsonWeight({ name: "abc", list: [1, null, "x"], none: undefined })).toBe(8 + 7 + 4 + 8 + 17 + 4);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonWeight(value as Json)).toBe(weightOf(value as Json));
    }),
  );
});
