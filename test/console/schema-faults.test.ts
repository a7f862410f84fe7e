/** What a form of a schema says is wrong with a value (src/console/kit/schema). */
import { expect, test } from "bun:test";
import { faultsOf, validator } from "../../src/console/kit/schema/validator.ts";

const schema = {
  type: "object",
  required: ["topic"],
  properties: {
    topic: { type: "string", minLength: 1 },
    count: { type: "integer", maximum: 9 },
    lanes: { type: "array", items: { $ref: "#/$defs/lane" } },
  },
  $defs: { lane: { type: "object", required: ["name"], properties: { name: { type: "string" } } } },
};

const cases: readonly (readonly [title: string, value: unknown, told: readonly string[]])[] = [
  ["a value that fits", { topic: "a", count: 9, lanes: [{ name: "x" }] }, []],
  ["what is missing, at its place", {}, ["topic is required"]],
  ["an undefined member is missing", { topic: undefined }, ["topic is required"]],
  ["an empty text", { topic: "" }, ["topic must not be empty"]],
  ["a bound", { topic: "a", count: 10 }, ["count must be at most 9"]],
  ["what a reference leads to", { topic: "a", lanes: [{}] }, ["lanes.0.name is required"]],
  ["another type", { topic: 1 }, ["topic must be string"]],
];

for (const [title, value, told] of cases)
  test(`a form tells ${title}`, () => {
    expect(faultsOf(schema, value).map(({ path, message }) => `${path.join(".")} ${message}`)).toEqual([...told]);
  });

test("a pattern that browsers cannot read leaves the decision to the service", () => {
  expect(faultsOf({ type: "string", pattern: "(" }, "a")).toEqual([]);
});

test("a part of a schema sees the definitions of the whole", () => {
  const part = { $ref: "#/$defs/lane" };
  expect(validator.isValid(part, { name: "a" }, schema as never)).toBe(true);
  expect(validator.isValid(part, {}, schema as never)).toBe(false);
});
