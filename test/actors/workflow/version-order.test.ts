/** Semantic versions sort as the specification of semantic versions says. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import semver from "semver";
import { isSemanticVersion, versionOrder } from "../../../actors/workflow/version-order.ts";

const number = fc.nat({ max: 2_000_000 }).map(String);
const word = fc.stringMatching(/^[0-9A-Za-z-]{1,6}$/).filter((text) => !/^0\d+$/.test(text));
const version = fc
  .tuple(number, number, number, fc.option(fc.array(fc.oneof(number, word), { minLength: 1, maxLength: 3 })))
  .map(([major, minor, patch, before]) => `${major}.${minor}.${patch}${before === null ? "" : `-${before.join(".")}`}`);
const small = fc.constantFrom(
  "1.0.0",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-1",
  "1.0.0--",
  "10.0.0",
);
const orderOf = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

test("keys are in the order of the versions", () => {
  fc.assert(
    fc.property(fc.oneof(version, small), fc.oneof(version, small), (one, other) => {
      expect(orderOf(versionOrder(one), versionOrder(other))).toBe(semver.compare(one, other));
    }),
    { numRuns: 2000 },
  );
});

test("10.0.0 is after 9.0.0, a release after its candidates; build metadata is ignored", () => {
  const sorted = ["9.0.0-rc.2", "9.0.0-rc.10", "9.0.0", "10.0.0"];
  expect(sorted.toSorted((one, other) => orderOf(versionOrder(one), versionOrder(other)))).toEqual(sorted);
  expect(versionOrder("1.0.0+a")).toBe(versionOrder("1.0.0+b"));
});

test("what is no semantic version", () => {
  for (const text of ["1", "1.0", "01.0.0", "1.0.0-01", "v1.0.0", "1.0.0-", "1.0.0\n", "", `1.0.${"9".repeat(80)}`]) {
    expect(isSemanticVersion(text)).toBe(false);
    expect(() => versionOrder(text)).toThrow(TypeError);
  }
});
