/** JSON of values that hold the same large text several times. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { jsonText, type KnownTexts } from "../../../actors/kernel/json-text.ts";

const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

test("the text is that of JSON.stringify, also where large values are known", () => {
  fc.assert(
    fc.property(value, value, fc.string({ minLength: 3, unit: "binary" }), fc.nat(5), (one, other, text, levels) => {
      const whole = {
        one,
        text,
        deeper: { text, one, more: { text, other, none: undefined } },
        list: [one, text],
        other,
      };
      const known: KnownTexts = [];
      // Twice: the second time everything large is known.
      for (let time = 0; time < 2; time++) expect(jsonText(whole, levels, known, 2)).toBe(JSON.stringify(whole));
    }),
  );
});

test("a member called __proto__ is written like any other", () => {
  const given = JSON.parse('{"__proto__":{"text":"abcdef"},"text":"abcdef"}') as Json;
  expect(jsonText(given, 3, [], 2)).toBe(JSON.stringify(given));
});

test("large texts that recur are escaped once", () => {
  const content = '"'.repeat(100_000);
  const known: KnownTexts = [];
  jsonText({ input: { content }, board: { input: { content }, workflow: { content } } }, 2, known);
  expect(known.filter(([one]) => one === content)).toHaveLength(1);
  // A small value is nothing to be remembered.
  const small: KnownTexts = [];
  jsonText({ input: { content: "a" } }, 2, small);
  expect(small).toEqual([]);
});
