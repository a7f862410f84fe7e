/** Names of sources (docs/reference/stimuli.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isReservedSource, parseSource } from "../../../actors/stimulus/routing.ts";

test.each([
  ["ci", "ci"],
  ["CI", "ci"],
  ["0", "0"],
  ["My-ci.x_~!$&'()*+,;=:@\"<>[]\\^`{|}", "my-ci.x_~!$&'()*+,;=:@\"<>[]\\^`{|}"],
  ["a..", "a.."],
  ["x".repeat(128), "x".repeat(128)],
  ["x".repeat(129), null],
  ["", null],
  [".", null],
  ["..", null],
  ["-ci", null],
  ["_ci", null],
  ["__proto__", null],
  ["a/b", null],
  ["a?b", null],
  ["a#b", null],
  ["a%2fb", null],
  ["a b", null],
  ["a\tb", null],
  ["ci\n", null],
  ["ci\0", null],
  ["cié", null],
  ["\u212aci", null],
  ["ci\ud800", null],
])("%j is %j", (text, expected) => {
  expect(parseSource(text)).toBe(expected);
});

test("what is a source stays the same read again, and says so of every text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary-ascii", maxLength: 140 }), (text) => {
      const source = parseSource(text);
      const isOne = text.length > 0 && text.length <= 128 && /^[a-z0-9]/i.test(text) && !/[\0-\x20\x7f/?#%]/.test(text);
      expect(source).toBe(isOne ? text.toLowerCase() : null);
      if (source !== null) expect(parseSource(source)).toBe(source);
    }),
  );
});

test("three names are reserved for other routes", () => {
  expect(["stripe", "git", "keycloak", "github", "stripe2"].filter(isReservedSource)).toEqual([
    "stripe",
    "git",
    "keycloak",
  ]);
});
