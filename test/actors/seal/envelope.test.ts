/** What an envelope's signature is over, and which texts are no envelope (docs/reference/seal.md). */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { canonicalText } from "../../../actors/seal/canonical.ts";
import { readEnvelope, signedTexts } from "../../../actors/seal/envelope.ts";
import { type JsonNode, MalformedText, readJsonText } from "../../../actors/seal/json-text.ts";
import { readTimestamp } from "../../../actors/seal/timestamp.ts";
import { isSigned } from "../../../src/lib/ed25519.ts";
import { seed, vectors, wireOf } from "./vectors.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string): JsonNode => readJsonText(bytes(text), 64);
const verifies = (text: string): boolean => {
  const envelope = readEnvelope(bytes(text));
  return isSigned(seed.publicKey, signedTexts(envelope), envelope.signature);
};

test.each(vectors)("a vector has its bytes, its digest, and verifies: $name", (vector) => {
  const [text = ""] = signedTexts(readEnvelope(bytes(wireOf(vector))));
  expect(text).toBe(vector.canonical);
  expect(Buffer.byteLength(text)).toBe(vector.canonical_len);
  expect(createHash("sha256").update(text).digest("hex")).toBe(vector.sha256);
  expect(verifies(wireOf(vector))).toBe(true);
  expect(verifies(wireOf(vector, { timestamp: String(vector.timestamp_unix) }))).toBe(true);
});

test.each(vectors)("a vector with another token, second or argument does not verify: $name", (vector) => {
  expect(verifies(wireOf(vector, { token: `${vector.token}x` }))).toBe(false);
  expect(verifies(wireOf(vector, { timestamp: String(vector.timestamp_unix + 1) }))).toBe(false);
  expect(verifies(wireOf(vector).replace('"method":"', '"method":"y'))).toBe(false);
});

test("the vector of numbers fails where a number is written in another way", () => {
  const v5 = vectors.find(({ payload_wire_text }) => payload_wire_text !== undefined);
  if (v5 === undefined) throw new Error("there is no such vector");
  const wire = wireOf(v5);
  expect(verifies(wire)).toBe(true);
  expect(verifies(wire.replace('"n":1.0', '"n":1'))).toBe(false);
  expect(verifies(wire.replace("9007199254740993", "9007199254740992"))).toBe(false);
  expect(verifies(wire.replace("9007199254740993", "9007199254740993.0"))).toBe(false);
});

test("names sorted by UTF-16 units verify as well, and no third order", () => {
  const v3 = vectors.find(({ name }) => name.startsWith("V3"));
  if (v3 === undefined) throw new Error("there is no such vector");
  const [, byUnits = ""] = signedTexts(readEnvelope(bytes(wireOf(v3))));
  expect(Buffer.byteLength(byUnits)).toBe(148);
  expect(createHash("sha256").update(byUnits).digest("hex")).toBe(
    "2ad6b5121d83c6a2c03b22ad640a0ccade6a2a6454ae716e9c0405ea3b6049cf",
  );
  const signature = "6IrZXdL5I6JjyEhyggk2yIuPEu2FoqR1fme2EgGa77DVxDTJ4DNpAv0r/m1muZ0PET/KRAcJTYHuRkUABoy4CA==";
  expect(verifies(wireOf(v3, { signature }))).toBe(true);
  expect(signedTexts(readEnvelope(bytes(wireOf(vectors[0] ?? v3))))).toHaveLength(1);
});

test("order of members, blanks and other escapes change nothing", () => {
  const [v1] = vectors;
  if (v1 === undefined) throw new Error("there are no vectors");
  const { token, signature_b64: signature, timestamp_iso: timestamp } = v1;
  const payload =
    '{ "params" : {"arguments":{"path":"\\/workspace\\u002fa.txt"},"name":"fs\\u002eread"},\n\t"method":"tools/call", "id":"req-1","jsonrpc":"2.0"}';
  const text = `{"payload":${payload},"timestamp":"${timestamp}","signature":"${signature}","security_token":"${token}","more":[1],"protocol":"seal/v1"}`;
  expect(verifies(text)).toBe(true);
  const urlSafe = Buffer.from(signature, "base64").toString("base64url");
  expect(verifies(text.replace(signature, urlSafe))).toBe(true);
});

const envelope = (over: Record<string, string> = {}): string => {
  const members: Record<string, string> = {
    protocol: '"seal/v1"',
    security_token: '"t"',
    signature: `"${Buffer.alloc(64, 1).toString("base64")}"`,
    payload: "{}",
    timestamp: "1",
    ...over,
  };
  return `{${Object.entries(members)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `"${name}":${value}`)
    .join(",")}}`;
};

test.each([
  ["a body of nothing", ""],
  ["a body cut short", envelope().slice(0, -1)],
  ["a byte-order mark", `\ufeff${envelope()}`],
  ["something behind it", `${envelope()} 1`],
  ["a member twice", envelope().replace("{", '{"payload":{},')],
  ["a member twice under two spellings", envelope({ payload: '{"a":1,"\\u0061":2}' })],
  ["half a surrogate pair", envelope({ payload: '{"a":"\\ud800"}' })],
  ["half a surrogate pair in a name", envelope({ payload: '{"\\udc00x":1}' })],
  ["nesting of 65", envelope({ payload: `{"a":${"[".repeat(63)}${"]".repeat(63)}}` })],
  ["a list", "[]"],
  ["another protocol", envelope({ protocol: '"seal/v2"' })],
  ["no protocol", envelope({ protocol: "" })],
  ["no token", envelope({ security_token: "" })],
  ["a payload that is a batch", envelope({ payload: "[{}]" })],
  ["a signature of 63 bytes", envelope({ signature: `"${Buffer.alloc(63, 1).toString("base64")}"` })],
  ["a signature with blanks", envelope({ signature: `" ${Buffer.alloc(64, 1).toString("base64")}"` })],
  ["a number with a leading zero", envelope({ payload: '{"a":01}' })],
  ["a control character in a text", envelope({ payload: '{"a":"\u0001"}' })],
  ["NaN", envelope({ payload: '{"a":NaN}' })],
  ["a comma too many", envelope({ payload: '{"a":1,}' })],
])("no envelope: %s", (_what, text) => {
  expect(() => readEnvelope(bytes(text))).toThrow(MalformedText);
});

test("bytes that are no UTF-8 are refused, an encoded surrogate among them", () => {
  for (const broken of [[0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    const text = envelope({ payload: '{"a":"#"}' });
    const at = text.indexOf("#");
    const body = [...bytes(text.slice(0, at)), ...broken, ...bytes(text.slice(at + 1))];
    expect(() => readEnvelope(Uint8Array.from(body))).toThrow(MalformedText);
  }
});

test("nesting of 64 is read", () => {
  expect(readEnvelope(bytes(envelope({ payload: `{"a":${"[".repeat(62)}${"]".repeat(62)}}` }))).timestamp).toBe(1);
});

test.each([
  ['"2026-01-02T03:04:05.678Z"', 1767323045],
  ['"2026-01-02T03:04:05Z"', 1767323045],
  ['"2026-01-02T04:04:05.000000001+01:00"', 1767323045],
  ['"2026-01-01T22:34:05-04:30"', 1767323045],
  ['"1969-12-31T23:59:59.5Z"', -1],
  ['"2024-02-29T00:00:00Z"', 1709164800],
  ["1767323045", 1767323045],
  ["1767323045.0", null],
  ["1767323045.5", null],
  ["1e9", null],
  ['"1767323045"', null],
  ['"2026-01-02T03:04:60Z"', null],
  ['"2016-12-31T23:59:60Z"', null],
  ['"2026-01-02T03:04:05"', null],
  ['"2026-01-02"', null],
  ['"2025-02-29T00:00:00Z"', null],
  ['"2026-01-02T24:00:00Z"', null],
  ['"2026-01-02T03:04:05+24:00"', null],
  ["9007199254740993", null],
  ["null", null],
] as const)("a timestamp of %s means %p", (text, seconds) => {
  expect(readTimestamp(read(text))).toBe(seconds);
});

const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("__proto__", "\ud83d\ude00", "\ufffd"),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 5 }),
  ),
})).value;

test("what is canonical stays so, means the same, and no order of members changes it", () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = JSON.stringify(value);
      const canonical = canonicalText(read(text));
      expect(canonicalText(read(canonical))).toBe(canonical);
      expect(JSON.parse(canonical)).toEqual(JSON.parse(text));
      expect(canonicalText(read(JSON.stringify(reversed(value), null, 1)))).toBe(canonical);
    }),
    { numRuns: 300 },
  );
});

test("no text makes the reader do anything but answer or refuse", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.string({ unit: "binary" }), (raw, text) => {
      for (const body of [raw, bytes(text), bytes(envelope({ payload: text }))]) {
        let fault: unknown = null;
        try {
          readEnvelope(body);
        } catch (error) {
          fault = error;
        }
        if (fault !== null) expect(fault).toBeInstanceOf(MalformedText);
      }
    }),
    { numRuns: 300 },
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
