/** Which keys and signatures are taken (docs/reference/seal.md). */
import { expect, test } from "bun:test";
import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { isSoundPoint } from "../../../actors/seal/curve.ts";
import { readPublicKey, readPublicKeyOrHex, spkiOf } from "../../../actors/seal/public-key.ts";
import { ed25519Key, isSigned } from "../../../src/lib/ed25519.ts";
import { seed } from "./vectors.ts";

const raw = Buffer.from(seed.hex, "hex");
const pem = seed.publicKey.export({ format: "pem", type: "spki" }).toString();

test.each([
  ["raw base64", seed.base64],
  ["raw base64 without padding", seed.base64.replace("=", "")],
  ["raw base64url", raw.toString("base64url")],
  ["SPKI DER in base64", seed.spki],
  ["SPKI DER in base64url", Buffer.from(seed.spki, "base64").toString("base64url")],
  ["PEM", pem],
  ["PEM in one line", pem.replaceAll("\n", "\\n")],
])("a key is read as %s", (_form, text) => {
  expect(readPublicKey(text)).toEqual(new Uint8Array(raw));
});

test("a key in hexadecimal is read where that is asked for alone", () => {
  expect(readPublicKeyOrHex(seed.hex.toUpperCase())).toEqual(new Uint8Array(raw));
  expect(readPublicKey(seed.hex)).toBeNull();
});

const hex = (text: string): string => Buffer.from(text, "hex").toString("base64");
test.each([
  ["31 bytes", raw.subarray(0, 31).toString("base64")],
  ["33 bytes", Buffer.concat([raw, Buffer.of(0)]).toString("base64")],
  ["no base64", `${seed.base64}*`],
  ["an X25519 key", generateKeyPairSync("x25519").publicKey.export({ format: "der", type: "spki" }).toString("base64")],
  ["a private key", seed.privateKey.export({ format: "pem", type: "pkcs8" }).toString()],
  ["zero", hex("00".repeat(32))],
  ["order 1", hex(`01${"00".repeat(31)}`)],
  ["order 2", hex(`ec${"ff".repeat(30)}7f`)],
  ["order 4 with a sign", hex(`${"00".repeat(31)}80`)],
  ["order 8", hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")],
  ["order 8 with a sign", hex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85")],
  ["the other order 8", hex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")],
  ["the other order 8 with a sign", hex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa")],
  ["another spelling of order 1", hex(`ee${"ff".repeat(30)}7f`)],
  ["another spelling of zero", hex(`ed${"ff".repeat(30)}ff`)],
  ["a y above the field", hex("ff".repeat(32))],
  ["a y of no point", hex(`02${"00".repeat(31)}`)],
  ["a text of a megabyte", "A".repeat(1_000_000)],
])("no key: %s", (_what, text) => {
  expect(readPublicKey(text)).toBeNull();
});

test("keys that are made at random are sound", () => {
  for (let at = 0; at < 20; at++) {
    const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
    expect(isSoundPoint(Buffer.from(x, "base64url"))).toBe(true);
  }
});

const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

test("a signature with S + L is refused, as is one cut, extended or of another text", () => {
  const text = "what was signed";
  const good = sign(null, Buffer.from(text), seed.privateKey);
  const key = ed25519Key(spkiOf(raw));
  expect(isSigned(key, [text], good)).toBe(true);
  let s = [...good.subarray(32)].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n) + order;
  const high = Buffer.alloc(32);
  for (let at = 0; at < 32; at++, s >>= 8n) high[at] = Number(s & 255n);
  expect(isSigned(key, [text], Buffer.concat([good.subarray(0, 32), high]))).toBe(false);
  expect(isSigned(key, [text], good.subarray(0, 63))).toBe(false);
  expect(isSigned(key, [text], Buffer.concat([good, Buffer.of(0)]))).toBe(false);
  expect(isSigned(key, [`${text}!`], good)).toBe(false);
});

test("a key of small order, by which one signature passes for any text, is refused", () => {
  const identity = Buffer.from(`01${"00".repeat(31)}`, "hex");
  const forged = Buffer.concat([identity, Buffer.alloc(32)]);
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), identity]);
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  expect(isSigned(key, ["any text"], forged)).toBe(true);
  expect(isSoundPoint(identity)).toBe(false);
});
