/** Array literals: what goes in comes out of PostgreSQL again. */
import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  booleans,
  jsonLines,
  jsonTexts,
  numbers,
  separated,
  texts,
} from "../../../src/store/postgres/array-literal.ts";
import { freshStores } from "../../harness/stores.ts";

const stores = await freshStores();
afterAll(() => stores.dispose());

const storable = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0") && text.isWellFormed());

test("texts of any kind", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(storable), async (values) => {
      const [row] = await stores.sql<{ back: string[] }[]>`select ${texts(values)}::text[] as back`;
      expect(row?.back).toEqual(values);
    }),
    { numRuns: 60 },
  );
});

test("texts with a separator that none of them holds", async () => {
  const dividing = fc.array(fc.oneof(storable, fc.constantFrom("", "\u001f", "a\u001fb", '{"a":"\\\\"}')), {
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(dividing, async (values) => {
      const { text, separator } = separated(values);
      const rows = await stores.sql<{ back: string }[]>`
        select coalesce(back, '') as back from unnest(string_to_array(${text}::text, ${separator}::text),
          ${numbers(values.map((_, index) => index))}::int[]) as u (back, place)`;
      expect(rows.map(({ back }) => back)).toEqual(values);
    }),
    { numRuns: 60 },
  );
});

test("JSON texts of any value, control characters and lone surrogates included", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue({ stringUnit: "binary" })), async (values) => {
      const written = values.map((value) => JSON.stringify(value));
      const [row] = await stores.sql<{ back: string[] }[]>`select ${jsonTexts(written)}::text[] as back`;
      expect(row?.back).toEqual(written);
      const [lines] = await stores.sql<{ back: string[] }[]>`
        select string_to_array(${jsonLines(written)}::text, E'\\n') as back`;
      expect(lines?.back).toEqual(written);
    }),
    { numRuns: 60 },
  );
});

test("numbers and booleans", async () => {
  const [row] = await stores.sql<{ numbers: number[]; booleans: boolean[] }[]>`
    select ${numbers([1, -2, 0])}::int[] as numbers, ${booleans([true, false])}::bool[] as booleans`;
  expect({ ...row }).toEqual({ numbers: [1, -2, 0], booleans: [true, false] });
});
