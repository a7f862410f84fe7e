/** Bytes of a delivery as content and payload (docs/reference/stimuli.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { contentOf, payloadOf } from "../../../actors/stimulus/content.ts";

const json = "application/json";
const form = "application/x-www-form-urlencoded";

test.each([
  ["", "", "utf-8"],
  ["héllo\r\n", "héllo\r\n", "utf-8"],
  ["\ufeff{}", "\ufeff{}", "utf-8"],
  ["\u0001\u{1f600}", "\u0001\u{1f600}", "utf-8"],
  [[0xff, 0xfe], "//4=", "base64"],
  [[0xc0, 0x80], "wIA=", "base64"],
  [[0xed, 0xa0, 0x80], "7aCA", "base64"],
  [[0x61, 0xe2, 0x82], "YeKC", "base64"],
  [[0x61, 0x00, 0x62], "YQBi", "base64"],
] as const)("%j is %j as %s", (bytes, content, encoding) => {
  const given = typeof bytes === "string" ? Buffer.from(bytes) : Uint8Array.from(bytes);
  expect(contentOf(given)).toEqual({ content, encoding });
});

test("any bytes come back from their content, also those in the middle of a buffer", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const padded = Buffer.concat([Buffer.from("ab"), bytes, Buffer.from("c")]).subarray(2, 2 + bytes.length);
        const { content, encoding } = contentOf(padded);
        expect(Buffer.from(content, encoding).equals(bytes)).toBe(true);
        expect(content).not.toContain("\0");
      },
    ),
  );
});

describe("payload", () => {
  test.each([
    ['{"a":[1,null]}', json, { a: [1, null] }],
    [" \n[1]", "Application/JSON; charset=utf-8", [1]],
    ["7", json, 7],
    ['"[1]"', json, "[1]"],
    ["true", "application/vnd.github+json", true],
    ["{}", "text/json", {}],
    ['\ufeff{"a":1}', json, { a: 1 }],
    ['{"a":1,"a":2}', json, { a: 2 }],
    ['{"a":"\\ud83d\\ude00 \\\\u0000"}', json, { a: "😀 \\u0000" }],
    ['{"a":1}', null, { a: 1 }],
    ['{"a":1}', "", { a: 1 }],
    ["7", null, null],
    ['{"a":1}', "text/plain", null],
    ['{"a":1}', "application/jsonp", null],
    ['{"a":1}', "multipart/form-data; boundary=x", null],
    ["", json, null],
    ["{", json, null],
    ["[1] x", json, null],
    ["\ufeff\ufeff{}", json, null],
    ['{"a":"\\u0000"}', json, null],
    ['{"\\u0000":1}', json, null],
    ['"\\ud800"', json, null],
    ["a=1&b=x+y%21&a=2&a=3&c", form, { a: ["1", "2", "3"], b: "x y!", c: "" }],
    ["", form, {}],
    ["payload=%7B%22ref%22%3A%22main%22%7D&x=%7B%7D", `${form}; charset=utf-8`, { payload: { ref: "main" }, x: "{}" }],
    ["payload=none", form, { payload: "none" }],
    ["payload=7&payload=8", form, { payload: ["7", "8"] }],
    ["payload=%5B1", form, { payload: "[1" }],
    ["a=%00", form, null],
    ['payload=["%5C%750000"]', form, null],
    ["a=%ff", form, { a: "\ufffd" }],
    [Array.from({ length: 10_001 }, () => "a").join("&"), form, null],
  ] as const)("%.60j as %p", (text, contentType, expected) => {
    expect(payloadOf(text, contentType) as unknown).toEqual(expected as unknown);
  });

  test("as deep as a request's body may be, and no deeper", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(payloadOf(nested(256), json)).not.toBe(null);
    for (const text of [nested(257), "[".repeat(1_000_000), `{"a":${nested(300_000)}}`]) {
      expect(payloadOf(text, json)).toBe(null);
    }
    expect(payloadOf(`payload=${nested(257)}`, form)).toEqual({ payload: nested(257) });
  });

  test("names that objects know already are members like any other", () => {
    for (const [text, type] of [
      ['{"__proto__":{"a":1},"constructor":2}', json],
      ["__proto__=x&constructor=y", form],
    ] as const) {
      const payload = payloadOf(text, type) as Record<string, unknown>;
      expect(Object.keys(payload)).toEqual(["__proto__", "constructor"]);
      expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
    }
    expect(({} as Record<string, unknown>).a).toBe(undefined);
  });

  test("of any JSON is its value; no text of any type makes it throw", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        const text = JSON.stringify(value);
        if (!text.includes("\\u0000")) expect(payloadOf(text, json) as unknown).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.constantFrom(json, form, null), (text, type) => {
        JSON.stringify(payloadOf(text, type));
      }),
    );
  });
});
