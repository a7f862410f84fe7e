import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Json, jsonOrText } from "../../../actors/kernel/json.ts";
import { cpuTimeOf } from "../../harness/cpu-time.ts";

describe("a text that may be JSON", () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    [" [1] ", [1]],
    ["17", "17"],
    ['"text"', '"text"'],
    ["{a:1}", "{a:1}"],
    ["", ""],
    ['{"a":"[[[\\"{{"}', { a: '[[["{{' }],
    ['["\\\\"]', ["\\"]],
  ])("%s", (text, expected) => {
    expect(jsonOrText(text) as unknown).toEqual(expected);
  });

  test.each([256, 257])("nested %i deep", (depth) => {
    const text = "[".repeat(depth) + "]".repeat(depth);
    expect(typeof jsonOrText(text)).toBe(depth > 256 ? "string" : "object");
  });

  test.each(['["', '[\\"', '["\\"', "[]{}", '["a\\\\'])("takes no time to speak of for 400 000 times %s", (part) => {
    const text = part.repeat(400_000);
    expect(cpuTimeOf(() => jsonOrText(text))).toBeLessThan(2000);
  });

  test("every object and array is read back", () => {
    const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(value, (one) => {
        expect(jsonOrText(JSON.stringify(one))).toEqual(JSON.parse(JSON.stringify(one)) as Json);
      }),
    );
  });
});
