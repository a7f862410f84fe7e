import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { copyOf, type Json, jsonOrText } from "../../../actors/kernel/json.ts";
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

describe("a deep copy", () => {
  test("is equal and shares no object with what it was made from", () => {
    const own = new WeakSet<object>();
    const collect = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      own.add(value);
      for (const member of Object.values(value)) collect(member);
    };
    const isShared = (value: unknown): boolean =>
      typeof value === "object" && value !== null && (own.has(value) || Object.values(value).some(isShared));
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        collect(value);
        const copy = copyOf(value);
        expect(copy).toEqual(value);
        expect(isShared(copy)).toBe(false);
      }),
    );
  });

  test("has a member `__proto__` where that is one", () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}');
    expect(JSON.stringify(copyOf(value))).toBe('{"__proto__":{"a":1},"b":{"__proto__":2}}');
    expect(copyOf(value).a).toBeUndefined();
  });
});
