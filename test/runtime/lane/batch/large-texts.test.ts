/** Large texts of states and log entries: sent once, stored in all their places. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { LargeTexts } from "../../../../src/runtime/lane/batch/large-texts.ts";

const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** As PostgreSQL puts it together. */
const filledIn = (text: string, texts: readonly string[]) =>
  text
    .split("\u001f")
    .map((piece, place) => (place % 2 === 0 ? piece : texts[Number(piece) - 1]))
    .join("");

test("with the large texts in their places the text is that of JSON.stringify", () => {
  fc.assert(
    fc.property(value, value, fc.string({ minLength: 3, unit: "binary" }), fc.nat(5), (one, other, text, levels) => {
      const deeper = { text, one, more: { text, other, none: undefined } };
      const whole = { one, text, deeper, list: [one, text], other } as Json;
      const large = new LargeTexts(2);
      // Twice: the second time everything large is known.
      for (let time = 0; time < 2; time++) {
        const written = large.write(whole, levels);
        const expected = JSON.stringify(whole);
        expect([filledIn(written.text, large.texts), written.size]).toEqual([expected, expected.length]);
      }
    }),
  );
});

test("a member called __proto__ is written like any other", () => {
  const given = JSON.parse('{"__proto__":{"text":"abcdef"},"text":"abcdef"}') as Json;
  const large = new LargeTexts(2);
  expect(filledIn(large.write(given, 3).text, large.texts)).toBe(JSON.stringify(given));
});

test("large texts that recur are sent once, and small ones where they stand", () => {
  const content = '"'.repeat(100_000);
  const large = new LargeTexts();
  const { text } = large.write({ input: { content }, board: { input: { content }, workflow: { content } } }, 2);
  expect([large.texts, text.length < 200]).toEqual([[JSON.stringify(content)], true]);
  const none = new LargeTexts();
  expect(none.write({ input: { content: "a" } }, 2).text).toBe('{"input":{"content":"a"}}');
  expect(none.texts).toEqual([]);
});
