/** Frames and releases: their bytes, their signatures, and what is no frame (docs/reference/edge.md). */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import semver from "semver";
import { readBase64, readEdgeKey } from "../../../actors/edge/base64.ts";
import { readBody, readFrame, signedText, unsignedText } from "../../../actors/edge/frame-text.ts";
import {
  Capabilities,
  framesDown,
  framesUp,
  Hello,
  overloadedReason,
  retryAfterMs,
} from "../../../actors/edge/frames.ts";
import { frameMessage, releaseMessage } from "../../../actors/edge/signing.ts";
import { compareVersions, isVersion } from "../../../actors/edge/version.ts";
import { ed25519Key, isSigned } from "../../../src/lib/ed25519.ts";
import { connection, keyOfSeed, keys, negatives, signed, vector } from "./vectors.ts";

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const verifies = (key: string, text: string, signature: Uint8Array): boolean => {
  const spki = readEdgeKey(key);
  return spki !== null && isSigned(ed25519Key(spki), [text], signature);
};
type KeyName = keyof typeof keys;
const keyOf = (name: string) => keyOfSeed(Buffer.from(keys[name as KeyName].seed_hex, "hex"));

test.each(["E2", "E3", "E4", "E6", "E7", "E8"])("frame %s has its bytes and its signature", (id) => {
  const { direction, t, s, b, b_bytes, b_sha256, signer, signature, ...rest } = vector(id);
  expect([Buffer.byteLength(b), digest(b)]).toEqual([b_bytes, b_sha256]);
  const message = frameMessage(direction, connection, t, s, digest(b));
  expect(message).toBe(rest.signing_input);
  expect([Buffer.byteLength(message), digest(message)]).toEqual([rest.signing_input_bytes, rest.signing_input_sha256]);
  expect(signed(keyOf(signer), message)).toBe(signature);
  const kid = direction === "down" ? "edge-1" : null;
  expect(signedText(t, s, b, signature, kid)).toBe(rest.frame_text);
  const bytes = Uint8Array.fromBase64(signature);
  expect(readFrame(rest.frame_text)).toEqual({ t, b, signature: { s, bytes, kid } });
  expect(verifies(keys[signer as KeyName].public_key, message, bytes)).toBe(true);
  const schemas: Readonly<Record<string, (typeof framesUp)["hello"]>> = { ...framesUp, ...framesDown } as never;
  expect(readBody(schemas[t] ?? Hello, b)).toEqual(JSON.parse(b));
});

test("a release has its bytes and its signature", () => {
  const { b, b_sha256, signing_input, signature, file_text } = vector("E9");
  expect(releaseMessage(digest(b))).toBe(signing_input);
  expect(digest(b)).toBe(b_sha256);
  expect(signed(keyOf("release_key"), signing_input)).toBe(signature);
  expect(JSON.parse(file_text)).toEqual({ b, kid: "release-1", sig: signature });
});

test.each(negatives)("$id, $change, is refused", ({ based_on, verify_key, signing_input, signature }) => {
  const bytes = readBase64(signature, 64) ?? new Uint8Array();
  const key = keys[verify_key].public_key;
  expect(verifies(key, signing_input, bytes)).toBe(false);
  expect(verifies(key, vector(based_on).signing_input, bytes)).toBe(true);
});

const signature = Buffer.alloc(64, 7).toString("base64");
test.each([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["no type", JSON.stringify({ b: "{}" })],
  ["a body that is no text", JSON.stringify({ t: "ack", b: {} })],
  ["half a surrogate pair", '{"t":"ack","b":"\\ud800"}'],
  ["a number without a signature", JSON.stringify({ t: "ack", s: 1, b: "{}" })],
  ["a signature without a number", JSON.stringify({ t: "ack", b: "{}", sig: signature })],
  ["number 0", JSON.stringify({ t: "ack", s: 0, b: "{}", sig: signature })],
  ["number 1.5", JSON.stringify({ t: "ack", s: 1.5, b: "{}", sig: signature })],
  ["a number beyond 2^53", `{"t":"ack","s":9007199254740993,"b":"{}","sig":"${signature}"}`],
  ["a short signature", JSON.stringify({ t: "ack", s: 1, b: "{}", sig: "AAAA" })],
  ["a type with a line break", JSON.stringify({ t: "a\nb", b: "{}" })],
  ["what nests deeper than a frame", `{"t":"ack","b":"{}","x":[[[[1]]]]}`],
])("%s is no frame", (_, text) => {
  expect(readFrame(text)).toBeNull();
});

test("keys that are not known are ignored, and every text may be a body", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (b) => {
      expect(readFrame(JSON.stringify({ t: "progress", b, later: [1] }))).toEqual({
        t: "progress",
        b,
        signature: null,
      });
      expect(readFrame(unsignedText("progress", b))?.b).toBe(b);
    }),
  );
});

test("a hello without what tells journals and starts apart does not fit", () => {
  const hello = JSON.parse(vector("E2").b) as Record<string, unknown>;
  for (const name of ["journal_id", "journal_seq", "boot_id"]) {
    const { [name]: _, ...rest } = hello;
    expect(readBody(Hello, JSON.stringify(rest))).toBeNull();
  }
  expect(readBody(Hello, JSON.stringify({ ...hello, later: 1 }))).not.toBeNull();
  expect(readBody(Hello, JSON.stringify({ ...hello, slots: 65 }))).toBeNull();
  expect(readBody(Hello, vector("E2").b.replace("0.1.0", "\\ud800"))).toBeNull();
  expect(readBody(Hello, "[".repeat(100_000))).toBeNull();
});

test.each([
  ["a name of 64 characters", { ["k".repeat(64)]: "v" }],
  ["no name", { "": "v" }],
  ["a line break in a name and no text behind it", { "a\nb": [1] }],
  ["a long value", { zone: "v".repeat(257) }],
  ["65 of them", Object.fromEntries(Array.from({ length: 65 }, (_, nth) => [`k${nth}`, "v"]))],
])("labels with %s are none", (_, labels) => {
  const said = { os: "linux", arch: "x86_64", local_tools: [], mount_points: [] };
  expect(readBody(Capabilities, JSON.stringify({ ...said, labels: { ["k".repeat(63)]: "v" } }))).not.toBeNull();
  expect(readBody(Capabilities, JSON.stringify({ ...said, labels }))).toBeNull();
});

test("an overloaded node says how long to wait", () => {
  expect(retryAfterMs(overloadedReason(1500))).toBe(1500);
  for (const reason of [
    "",
    "retry_after_ms=",
    "retry_after_ms=-1",
    "retry_after_ms=1e9",
    `retry_after_ms=${"9".repeat(12)}`,
  ])
    expect(retryAfterMs(reason)).toBeNull();
});

test("versions stand in the order of SemVer", () => {
  const number = fc.nat({ max: 12 });
  const word = fc.oneof(fc.constantFrom("alpha", "beta", "rc", "x-1", "1a"), fc.nat({ max: 120 }).map(String));
  const version = fc
    .tuple(number, number, number, fc.array(word, { maxLength: 3 }), fc.constantFrom("", "+b.1"))
    .map(([a, b, c, preview, build]) => `${a}.${b}.${c}${preview.length > 0 ? `-${preview.join(".")}` : ""}${build}`);
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(isVersion(one)).toBe(true);
      expect(Math.sign(compareVersions(one, other))).toBe(semver.compare(one, other));
    }),
  );
  for (const text of ["1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "", `1.2.3-${"a".repeat(80)}`]) {
    expect(isVersion(text)).toBe(false);
    expect(compareVersions(text, "0.0.1")).toBeLessThan(0);
  }
});
