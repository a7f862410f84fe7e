/** Envelopes of the client, as the service reads them (docs/reference/seal.md). */
import { expect, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import fc from "fast-check";
import { readEnvelope, signedTexts } from "../../../actors/seal/envelope.ts";
import { spkiOf } from "../../../actors/seal/public-key.ts";
import { isSigned } from "../../../src/lib/ed25519.ts";
import { canonical, createKey, signedEnvelope } from "../../../src/programs/client/seal.ts";
import { vectors } from "../../actors/seal/vectors.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test.each(vectors.filter(({ payload }) => payload !== undefined))("the bytes of a vector: $name", (vector) => {
  const { payload, token, timestamp_unix: timestamp, canonical: expected } = vector;
  expect(canonical({ payload, security_token: token, timestamp })).toBe(expected);
});

test("what the client signs verifies at the service, for any arguments", async () => {
  const { publicKey, privateKey } = await createKey();
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const key = createPublicKey({ key: Buffer.from(spkiOf(raw)), format: "der", type: "spki" });
  const session = { key: privateKey, token: "a.b.c", now: () => 1_767_323_045 };
  const given = fc.dictionary(
    fc.string({ unit: "grapheme" }),
    fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" }) as fc.Arbitrary<unknown>,
  );
  await fc.assert(
    fc.asyncProperty(given, async (named) => {
      const wire = JSON.stringify(await signedEnvelope(session, { name: "fs.read", arguments: named }));
      const envelope = readEnvelope(bytes(wire));
      expect(isSigned(key, signedTexts(envelope), envelope.signature)).toBe(true);
      const altered = readEnvelope(bytes(wire.replace("fs.read", "fs.reax")));
      expect(isSigned(key, signedTexts(altered), altered.signature)).toBe(false);
    }),
    { numRuns: 50 },
  );
  await expect(crypto.subtle.exportKey("pkcs8", privateKey)).rejects.toThrow();
});
