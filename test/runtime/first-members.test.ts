/** The outermost members of an object, from its text or the beginning of that. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstMembers } from "../../src/runtime/reads/first-members.ts";

test("for any object, cut anywhere, what is found is right, or nothing is found", () => {
  const object = fc.dictionary(
    fc.oneof(fc.constantFrom("a", "b", "__proto__"), fc.string({ unit: "binary" })),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(object, fc.nat(), (value, length) => {
      const whole = JSON.stringify(value);
      const parsed = JSON.parse(whole) as Record<string, unknown>;
      const wanted = ["a", "b", "__proto__"];
      const expected = Object.fromEntries(Object.entries(parsed).filter(([name]) => wanted.includes(name)));
      expect(JSON.stringify(firstMembers(whole, wanted))).toBe(JSON.stringify(expected));
      const found = firstMembers(whole.slice(0, length % whole.length), wanted);
      if (found !== null) expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
    }),
  );
});

test("long texts take linear time", () => {
  const head = `{"a":"${'\\\\\\"'.repeat(10_000)}","b":${"[".repeat(10_000)}`;
  const began = performance.now();
  expect(firstMembers(head, ["a"])).toEqual({ a: '\\"'.repeat(10_000) });
  expect(firstMembers(head, ["b"])).toBeNull();
  expect(performance.now() - began).toBeLessThan(500);
});
