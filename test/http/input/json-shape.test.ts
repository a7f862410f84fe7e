import { expect, test } from "bun:test";
import fc from "fast-check";
import { tooComplex } from "../../../src/http/input/json-shape.ts";

const told = (text: string) => tooComplex(new TextEncoder().encode(text));
const deep = "is nested too deeply" as const;
const many = "holds too many values" as const;

/** Strings whose end is hard to find: brackets, quotes and backslashes, some longer than what is looked at byte by byte. */
const hard = fc
  .array(fc.constantFrom("\\", '"', "[", "{", "]", "}", ",", "é", "x".repeat(70), "\\".repeat(65)), { maxLength: 12 })
  .map((parts) => parts.join(""));

test("only nesting counts, wherever strings begin and end", () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      hard,
      fc.integer(),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(hard, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const within = (depth: number, text: string) => "[".repeat(depth) + text + "]".repeat(depth);
  fc.assert(
    fc.property(value, (document) => {
      const text = JSON.stringify([document, "end"]);
      const depth = nesting(document) + 1;
      expect(told(within(256 - depth, text))).toBeNull();
      expect(told(within(257 - depth, text))).toBe(deep);
    }),
    { numRuns: 500 },
  );
});

function nesting(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(nesting));
}

const brackets = "[".repeat(300);
test.each<[string, string, typeof deep | typeof many | null]>([
  ["nothing", "", null],
  ["a string without an end", `["${brackets}`, null],
  ["a string that ends in a backslash", `["${"x".repeat(200)}\\`, null],
  ["an escaped quote right after what was looked at", `["${"x".repeat(64)}\\"${brackets}",0]`, null],
  ["an end right after what was looked at", `["${"x".repeat(64)}"${brackets}`, deep],
  ["brackets after a long string", `["${"x".repeat(5000)}"${brackets}`, deep],
  ["many values in a mebibyte", `[${"0,".repeat(500_000)}0]`, null],
  ["as many in a larger text", `[${"0,".repeat(530_000)}0]`, many],
  ["as many names", `{${'"":0,'.repeat(250_000)}"":0}`, many],
  ["as many lists", `[${"[],".repeat(400_000)}0]`, many],
  ["long texts", `[${`"${",".repeat(1_000_000)}",`.repeat(3)}0]`, null],
])("%s", (_, text, why) => {
  expect(told(text)).toBe(why);
});
