/** What daemons sign, and the rules of tokens and tags (docs/reference/edge.md). */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { readBase64, readEdgeKey } from "../../../actors/edge/base64.ts";
import { redemption, tokenStatus } from "../../../actors/edge/enrollment.ts";
import { enrollmentMessage, rotationMessage } from "../../../actors/edge/signing.ts";
import { changedTags, maxTags, tagSet } from "../../../actors/edge/tags.ts";
import { ed25519Key, isSigned } from "../../../src/lib/ed25519.ts";
import { keyOfSeed, keys, publicHalf, signed, vector } from "./vectors.ts";

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
const verifies = (key: string, text: string, signature: string): boolean => {
  const spki = readEdgeKey(key);
  return spki !== null && isSigned(ed25519Key(spki), [text], readBase64(signature, 64) ?? new Uint8Array());
};
const keyOf = (name: keyof typeof keys) => keyOfSeed(Buffer.from(keys[name].seed_hex, "hex"));

test("the proof of an enrollment has its bytes and its signature", () => {
  const { token, token_sha256, signing_input, signing_input_bytes, signature } = vector("E1");
  const text = enrollmentMessage(publicHalf(keyOf("host_key")), digest(token));
  expect([text, Buffer.byteLength(text), digest(token)]).toEqual([signing_input, signing_input_bytes, token_sha256]);
  expect(signed(keyOf("host_key"), text)).toBe(signature);
  expect(verifies(keys.host_key.public_key, text, signature)).toBe(true);
  expect(verifies(keys.host_key_next.public_key, text, signature)).toBe(false);
  expect(verifies(keys.host_key.public_key, `${text}\n`, signature)).toBe(false);
});

test("the proof of a rotation is signed by both keys", () => {
  const { node_id, new_public_key, issued_at, signing_input, signature_old, signature_new } = vector("E5");
  const text = rotationMessage(node_id, new_public_key, issued_at);
  expect(text).toBe(signing_input);
  expect([signed(keyOf("host_key"), text), signed(keyOf("host_key_next"), text)]).toEqual([
    signature_old,
    signature_new,
  ]);
  expect(
    verifies(keys.host_key.public_key, rotationMessage(node_id, new_public_key, issued_at + 1), signature_old),
  ).toBe(false);
});

test("base64 has one text for the same bytes, and a key of small order is none", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64");
      expect(readBase64(text, 32)).toEqual(bytes);
      expect(readBase64(text, 31)).toBeNull();
      // Bits that mean nothing, no padding, the other alphabet, a blank.
      for (const other of [text.replace(/=$/, ""), text.slice(0, -1), ` ${text}`])
        expect(readBase64(other, 32)).toBeNull();
    }),
  );
  for (const zero of ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
    expect(readEdgeKey(zero)).toBeNull();
});

test("a token is redeemed by one key, until it expires or is revoked", () => {
  const facts = { expiresAt: 1000, isRevoked: false, redeemedBy: null as string | null };
  const redeemed = { ...facts, redeemedBy: "a" };
  expect(redemption(facts, "a", 999)).toBe("first");
  expect(redemption(redeemed, "a", 999)).toBe("again");
  expect(redemption(redeemed, "b", 999)).toBe("token_redeemed");
  for (const one of [facts, redeemed]) expect(redemption(one, "a", 1000)).toBe("enrollment_token_expired");
  expect(redemption({ ...facts, isRevoked: true }, "a", 0)).toBe("enrollment_token_revoked");
  expect([tokenStatus(facts, 0), tokenStatus(facts, 1000), tokenStatus(redeemed, 1000)]).toEqual([
    "outstanding",
    "expired",
    "redeemed",
  ]);
});

test("tags stay sorted, single and few, however they change", () => {
  const tag = fc.stringMatching(/^[a-f]$/);
  fc.assert(
    fc.property(fc.array(tag), fc.array(tag), fc.array(tag), (tags, add, remove) => {
      const change = () => changedTags(tagSet(tags), { add, remove });
      if (add.some((one) => remove.includes(one))) return void expect(change).toThrow();
      const wanted = new Set([...tags, ...add].filter((one) => !remove.includes(one)));
      expect(change()).toEqual([...wanted].sort());
    }),
  );
  const many = Array.from({ length: maxTags + 1 }, (_, at) => `t${at}`);
  expect(() => tagSet(many)).toThrow();
  expect(changedTags(many.slice(1), { add: many.slice(0, 1), remove: [many[5] ?? ""] })).toHaveLength(maxTags);
});
