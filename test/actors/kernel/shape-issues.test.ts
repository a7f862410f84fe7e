/** Refusals of a value name the choices, the bounds and the nearest right name. */
import { describe, expect, test } from "bun:test";
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { nearest, notOneOf } from "../../../actors/kernel/nearest.ts";
import { shapeIssues, unknownMembers } from "../../../actors/kernel/shape-issues.ts";

const issues = (schema: TSchema, value: unknown) =>
  shapeIssues(Value.Errors(schema, value), 20).map(({ path, message }) => [path, message]);

const words = (...all: string[]) => Type.Union(all.map((word) => Type.Literal(word)));
const Signature = Type.Union([
  Type.Object({ preset: Type.Literal("github"), tolerance: Type.Optional(Type.Integer({ minimum: 0, maximum: 900 })) }),
  Type.Object({ preset: Type.Literal("stripe"), secret: Type.String() }),
]);

describe("what is said of a value that does not fit", () => {
  test.each<[string, TSchema, unknown, [string, string][]]>([
    ["a choice", words("tenant", "global"), "x", [["", "must be one of tenant, global"]]],
    [
      "a misspelt choice",
      words("tenant", "global"),
      "tennant",
      [["", "must be one of tenant, global; did you mean tenant?"]],
    ],
    ["a choice that may be null", Type.Union([words("a", "b"), Type.Null()]), 1, [["", "must be one of a, b"]]],
    ["one word", Type.Literal("svc"), "svd", [["", "must be svc"]]],
    ["kinds", Type.Union([Type.String(), Type.Array(Type.String())]), 5, [["", "must be a string or a list"]]],
    [
      "the kind that was meant",
      Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
      "",
      [["", "must not be empty"]],
    ],
    [
      "a list among kinds",
      Type.Union([Type.String(), Type.Array(Type.Integer())]),
      ["x"],
      [["0", "must be an integer"]],
    ],
    ["a tag", Signature, { preset: "gihub" }, [["preset", "must be one of github, stripe; did you mean github?"]]],
    [
      "a member beside its tag",
      Signature,
      { preset: "github", tolerance: 901 },
      [["tolerance", "must be an integer from 0 to 900"]],
    ],
    ["one that is missing", Signature, { preset: "stripe" }, [["secret", "is required"]]],
    ["both bounds", Type.Integer({ minimum: 1, maximum: 500 }), 0, [["", "must be an integer from 1 to 500"]]],
    [
      "both bounds, of a wrong kind",
      Type.Integer({ minimum: 1, maximum: 500 }),
      "x",
      [["", "must be an integer from 1 to 500"]],
    ],
    ["one bound", Type.Number({ minimum: 0 }), -1, [["", "must be a number of at least 0"]]],
    ["a length", Type.String({ maxLength: 3 }), "abcd", [["", "may have at most 3 characters"]]],
    ["a list's length", Type.Array(Type.String(), { maxItems: 1 }), ["a", "b"], [["", "may have at most 1 elements"]]],
    ["a kind", Type.Boolean(), "yes", [["", "must be true or false"]]],
    [
      "a place",
      Type.Object({ "a/b": Type.Array(Type.Object({ c: Type.String() })) }),
      { "a/b": [{ c: 1 }] },
      [["a/b.0.c", "must be a string"]],
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(issues(schema, value)).toEqual(expected);
  });

  test("a union is never told as one", () => {
    const scalar = fc.constantFrom<TSchema>(
      Type.String({ maxLength: 2 }),
      Type.Integer({ maximum: 3 }),
      Type.Boolean(),
      Type.Null(),
    );
    const schema = fc.oneof(
      scalar,
      fc
        .array(
          fc.oneof(
            scalar,
            scalar.map((item) => Type.Array(item)),
          ),
          { minLength: 2, maxLength: 4 },
        )
        .map((all) => Type.Union(all)),
      fc
        .dictionary(fc.constantFrom("a", "b"), scalar)
        .map((members) => Type.Union([Type.Object(members), Type.Literal("x")])),
    );
    fc.assert(
      fc.property(schema, fc.jsonValue({ maxDepth: 2 }), (shape, value) => {
        if (Value.Check(shape, value)) return;
        const found = issues(shape, value);
        expect(found.length).toBeGreaterThan(0);
        for (const [, message] of found) expect(message).not.toMatch(/union|^expected/i);
      }),
    );
  });
});

describe("members that a schema does not know", () => {
  const Body = Type.Object({
    input: Type.Unknown(),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    limits: Type.Optional(Type.Object({ timeout_seconds: Type.Integer() })),
    steps: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))),
    signature: Type.Optional(Signature),
    open: Type.Optional(Type.Object({}, { additionalProperties: true })),
  });
  test.each<[string, unknown, [string, string | null][]]>([
    ["none", { input: { anything: 1 }, labels: { mine: "x" }, open: { mine: 1 } }, []],
    ["one that is misspelt", { inptu: 1 }, [["inptu", "input"]]],
    ["one like nothing", { zzz: 1 }, [["zzz", null]]],
    [
      "further down",
      { limits: { timeout_secs: 1 }, steps: [{ name: "a" }, { nmae: "b" }] },
      [
        ["limits.timeout_secs", "timeout_seconds"],
        ["steps.1.nmae", "name"],
      ],
    ],
    [
      "of one shape among several",
      { signature: { preset: "github", secret: "x", more: 1 } },
      [["signature.more", null]],
    ],
    [
      "a prototype",
      JSON.parse('{"__proto__":1,"constructor":2}'),
      [
        ["__proto__", null],
        ["constructor", null],
      ],
    ],
    ["no object", "text", []],
  ])("%s", (_, value, expected) => {
    expect(unknownMembers(Body, value, 20).map(({ path, meant }) => [path, meant] as [string, string | null])).toEqual(
      expected,
    );
  });

  test("of many only so many are told", () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`m${n}`, n]));
    expect(unknownMembers(Body, many, 16)).toHaveLength(16);
  });
});

test.each([
  ["timeout_secs", ["timeout_seconds", "version"], "timeout_seconds"],
  ["Timeout-Seconds", ["timeout_seconds"], "timeout_seconds"],
  ["lables", ["labels", "tables"], "labels"],
  ["SVC_PROT", ["SVC_PORT", "SVC_MODE"], "SVC_PORT"],
  ["abc", ["xyz"], null],
  ["", ["a"], null],
  ["x".repeat(65), ["x".repeat(64)], null],
])("%s among %j is %s", (text, candidates, expected) => {
  expect(nearest(text, candidates)).toBe(expected);
});

test("a word that is no choice: all choices, and the nearest", () => {
  expect(notOneOf("runing", ["pending", "running"])).toBe(
    "runing is not one of pending, running; did you mean running?",
  );
  expect(notOneOf("x".repeat(5_000), ["pending"]).length).toBeLessThan(100);
});
