/** How selectors are written (docs/reference/edge.md). */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readSelector } from "../../../actors/edge/selector.ts";
import { Problem } from "../../../actors/kernel/problem.ts";

const read = (value: unknown) => readSelector(value, "selector");
const whole = { os: null, arch: null, tools: [], labels: [], tags: [] };

test.each<[string, unknown, object]>([
  ["nothing", {}, {}],
  ["null fields", { os: null, tools: null, labels: null, tags: null }, {}],
  ["a system and a machine", { os: "Darwin", arch: "amd64" }, { os: "macos", arch: "x86_64" }],
  ["members in another case", { OS: "linux", Tools: ["git"] }, { os: "linux", tools: ["git"] }],
  ["labels as text", { labels: ["zone=b=c"] }, { labels: [{ Equals: { zone: "b=c" } }] }],
  [
    "labels as pairs",
    { labels: [{ equals: ["k", "v"] }, { in: ["k", ["a"]] }] },
    { labels: [{ Equals: { k: "v" } }, { In: { k: ["a"] } }] },
  ],
  [
    "labels as shown",
    { labels: [{ Equals: { k: "v" } }, { Exists: "k" }, { In: { k: [] } }] },
    { labels: [{ Equals: { k: "v" } }, { Exists: "k" }, { In: { k: [] } }] },
  ],
  [
    "labels by kind",
    { labels: { equals: [{ key: "k", value: "v" }], exists: ["e"], in: [{ key: "i", values: ["a"] }] } },
    { labels: [{ Equals: { k: "v" } }, { Exists: "e" }, { In: { i: ["a"] } }] },
  ],
  ["tags as text", { tags: ["a", { has: "b" }] }, { tags: [{ Has: "a" }, { Has: "b" }] }],
  [
    "tags in every spelling",
    { tags: [{ any_of: ["a"] }, { "All-Of": [] }, { NONEOF: ["b"] }] },
    { tags: [{ AnyOf: ["a"] }, { AllOf: [] }, { NoneOf: ["b"] }] },
  ],
  [
    "tags by kind",
    { tags: { has: ["a", "b"], any_of: [], none_of: ["c"] } },
    { tags: [{ Has: "a" }, { Has: "b" }, { AnyOf: [] }, { NoneOf: ["c"] }] },
  ],
  [
    "the same name of a label in two cases",
    { labels: [{ in: ["K", ["a"]] }, { in: ["k", ["a"]] }] },
    { labels: [{ In: { K: ["a"] } }, { In: { k: ["a"] } }] },
  ],
])("%s is read, and read again is the same", (_, written, wanted) => {
  expect(read(written)).toEqual({ ...whole, ...wanted });
  expect(read(read(written))).toEqual(read(written));
});

test.each<[string, unknown]>([
  ["a misspelt field", { tag: ["a"] }],
  ["a misspelt kind", { tags: [{ AnyOff: ["a"] }] }],
  ["a misspelt kind by kind", { tags: { anyof_: ["a"], only: [] } }],
  ["a kind of another field", { tags: [{ Exists: "a" }] }],
  ["two kinds in one term", { tags: [{ Has: "a", AnyOf: [] }] }],
  ["a term of nothing", { labels: [{}] }],
  ["a field in two spellings", { tags: ["a"], Tags: [] }],
  ["two labels in one term", { labels: [{ Equals: { a: "b", c: "d" } }] }],
  ["a label without a value", { labels: ["zone"] }],
  ["a misspelt member of a pair", { labels: { equals: [{ key: "k", val: "v" }] } }],
  ["an unknown system", { os: "windows" }],
  ["text in place of a list", { tags: "a" }],
  ["a number", { tags: [1] }],
  ["a list in place of a selector", []],
  ["text", "all"],
  ["NUL", { tags: ["a\0"] }],
  ["half a pair", { tools: ["\ud800"] }],
  ["a name every object has", { constructor: [] }],
  ["a kind every object has", { tags: [{ constructor: ["a"] }] }],
  ["too many terms", { tags: Array(65).fill("a") }],
])("%s is refused", (_, written) => {
  expect(() => read(written)).toThrow(Problem);
});

test("any JSON is read with each of its terms, or refused", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.record({ tags: fc.jsonValue(), labels: fc.jsonValue() })), (value) => {
      try {
        const { tags, labels } = read(value);
        const { tags: written, labels: alsoWritten } = value as { tags?: unknown; labels?: unknown };
        // A list keeps each of its terms.
        if (Array.isArray(written)) expect(tags).toHaveLength(written.length);
        if (Array.isArray(alsoWritten)) expect(labels).toHaveLength(alsoWritten.length);
      } catch (error) {
        expect(error).toBeInstanceOf(Problem);
      }
    }),
    { numRuns: 2000 },
  );
});
