import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { fillDefaults, TooManyDefaults } from "../../../actors/manifest/json-schema/defaults.ts";
import { isTame, judgeInput } from "../../../actors/manifest/json-schema/input-schema.ts";
import { compileSchema } from "../../../actors/manifest/json-schema/json-schema.ts";
import { cpuTimeOf } from "../../harness/cpu-time.ts";

const day: Json = { type: "object", required: ["day"], properties: { day: { type: "string" } } };
const judge = (schema: Json, input: Json) => judgeInput(schema, compileSchema(schema), input, 10_000);

describe("an input", () => {
  test.each<[string, Json, Json, Json]>([
    ["an object is taken as it is", day, { day: "mon", more: 1 }, { day: "mon", more: 1 }],
    ["its JSON text is taken parsed", day, ' {"day":"mon"} ', { day: "mon" }],
    ["a text that fits stays a text", { type: "string" }, '{"day":"mon"}', '{"day":"mon"}'],
    ["a text that fits anything stays a text", {}, "[1]", "[1]"],
    ["defaults are filled in", { properties: { hub: { default: "north" } } }, {}, { hub: "north" }],
    [
      "defaults serve what is required",
      { type: "object", required: ["n"], properties: { n: { type: "integer", default: 3 } } },
      "{}",
      { n: 3 },
    ],
    [
      "draft 7",
      { $schema: "http://json-schema.org/draft-07/schema#", items: [{ type: "number" }], additionalItems: false },
      [1],
      [1],
    ],
  ])("%s", (_, schema, input, taken) => {
    expect(judge(schema, input)).toEqual({ ok: true, input: taken });
  });

  test.each<[string, Json, Json, string, RegExp]>([
    ["a missing property", day, {}, "input", /day is missing/],
    ["a missing property of a JSON text", day, "{}", "input", /day is missing/],
    ["a wrong member", day, { day: 1 }, "input.day", /string/],
    ["a text that is no JSON", day, "{day", "input", /object/],
    ["a default that does not fit", { properties: { n: { type: "number", default: "x" } } }, {}, "input.n", /number/],
    ["a text of brackets", day, "[".repeat(100_000), "input", /object/],
    ["a JSON text nested deeply", day, "[".repeat(300) + "]".repeat(300), "input", /object/],
    ["a schema without an end", { $ref: "#" }, {}, "input", /nested too deeply/],
  ])("is refused: %s", (_, schema, input, path, message) => {
    const verdict = judge(schema, input);
    if (verdict.ok) throw new Error("was accepted");
    expect(verdict.issues[0]).toEqual({ path, message: expect.stringMatching(message) });
  });
});

describe("defaults", () => {
  test.each<[string, Json, Json, Json]>([
    ["nested", { properties: { a: { properties: { b: { default: 1 } } } } }, { a: {} }, { a: { b: 1 } }],
    ["not of what is absent", { properties: { a: { properties: { b: { default: 1 } } } } }, {}, {}],
    ["of items", { items: { properties: { b: { default: 1 } } } }, [{}, { b: 2 }], [{ b: 1 }, { b: 2 }]],
    ["of a list's first", { prefixItems: [{ properties: { b: { default: 1 } } }] }, [{}, {}], [{ b: 1 }, {}]],
    [
      "of all parts",
      { allOf: [{ properties: { a: { default: 1 } } }, { properties: { b: { default: 2 } } }] },
      {},
      { a: 1, b: 2 },
    ],
    ["by reference", { $ref: "#/$defs/a~1b", $defs: { "a/b": { properties: { a: { default: 1 } } } } }, {}, { a: 1 }],
    ["not of alternatives", { anyOf: [{ properties: { a: { default: 1 } } }] }, {}, {}],
    ["not twice", { properties: { a: { default: {}, properties: { a: { default: 1 } } } } }, {}, { a: {} }],
    ["null is a value", { properties: { a: { default: 1 } } }, { a: null }, { a: null }],
    ["in a schema without an end", { properties: { a: { $ref: "#", default: {} } } }, { a: {} }, { a: { a: {} } }],
  ])("%s", (_, schema, value, filled) => {
    expect(fillDefaults(schema, value, 1000)).toEqual(filled);
  });

  test("a name that prototypes know is a name like others", () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"default":{"polluted":true}},"constructor":{"default":1}}}');
    const filled = fillDefaults(schema, {}, 1000);
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect("polluted" in {}).toBe(false);
  });

  test("growth and work are bounded", () => {
    const large: Json = { items: { properties: { a: { default: "x".repeat(1000) } } } };
    expect(() =>
      fillDefaults(
        large,
        Array.from({ length: 50 }, () => ({})),
        10_000,
      ),
    ).toThrow(TooManyDefaults);
    const doubling: Record<string, Json> = {};
    for (let level = 0; level < 60; level++) {
      const next = { $ref: `#/$defs/l${level + 1}` };
      doubling[`l${level}`] = { allOf: [next, next] };
    }
    const fill = () => fillDefaults({ $ref: "#/$defs/l0", $defs: doubling }, {}, 1000);
    expect(cpuTimeOf(() => expect(fill).toThrow(TooManyDefaults))).toBeLessThan(2000);
  });

  test("a value that lacks nothing is given back itself", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fillDefaults({ items: {}, properties: { a: {} } }, value as Json, 0)).toBe(value as Json);
      }),
    );
  });
});

test.each<[boolean, Json]>([
  [true, day],
  [true, { properties: { pattern: { type: "string" }, $ref: { format: "uuid" } } }],
  [true, { type: "array", items: { enum: [1, 2] }, maxItems: 3 }],
  [false, { properties: { a: { pattern: "(a+)+$" } } }],
  [false, { properties: { properties: { pattern: "x" } } }],
  [false, { patternProperties: { "^a": {} } }],
  [false, { items: { format: "uri" } }],
  [false, { uniqueItems: true }],
  [false, { $defs: { a: { anyOf: [{ $ref: "#" }] } } }],
  [false, { oneOf: Array.from({ length: 100 }, () => ({})) }],
  [false, { enum: Array.from({ length: 101 }, (_, index) => index) }],
])("tame: %p, %p", (tame, schema) => {
  expect(isTame(schema, 100)).toBe(tame);
});
