/** What is encrypted is decrypted in its context, with its key, unchanged; and nothing else is. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Problem } from "../../../actors/kernel/problem.ts";
import { createEncryption, openEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf, prefixOf } from "../../../src/features/encryption/envelope.ts";
import type { Encryption, EncryptionContext } from "../../../src/features/encryption/port.ts";
import type { Incident } from "../../../src/features/incidents/service.ts";
import { Secret } from "../../../src/lib/secret.ts";

const base64 = (fill: number) => Buffer.alloc(32, fill).toString("base64");
const [first, second, third] = [1, 2, 3].map((fill) => masterKeyOf(base64(fill))) as [Key, Key, Key];
type Key = ReturnType<typeof masterKeyOf>;

const reported: Incident[] = [];
const incidents = { report: (incident: Incident) => void reported.push(incident) };
const encryptionOf = (current: Key, previous: Key | null = null): Encryption =>
  createEncryption({ current, previous, incidents });
const encryption = encryptionOf(first);

const word = fc.string({ unit: "binary", maxLength: 40 });
const contexts = fc.record<EncryptionContext>({ tenant: word, record: word, version: word });
const context: EncryptionContext = { tenant: "acme", record: "0192", version: "secret/1" };

/** Why it does not open, as the incident has it. */
function refusal(by: Encryption, at: EncryptionContext, ciphertext: string): string | null {
  reported.length = 0;
  expect(() => by.decrypt(at, ciphertext)).toThrow(
    new Problem("decryption_failed", "What is stored encrypted cannot be decrypted"),
  );
  expect(reported).toHaveLength(1);
  return reported[0]?.violationType ?? null;
}

test("any text comes back in its context, and two ciphertexts of it differ", () => {
  fc.assert(
    fc.property(contexts, fc.string({ unit: "binary", maxLength: 300 }), (at, plain) => {
      const ciphertext = encryption.encrypt(at, plain);
      expect(ciphertext).toMatch(/^v1\.[\w-]{12}\.[\w-]{80}\.[\w-]{38,}$/);
      expect(encryption.decrypt(at, ciphertext)).toBe(plain);
      const [, , wrapped, content] = ciphertext.split(".");
      const [, , otherWrapped, otherContent] = encryption.encrypt(at, plain).split(".");
      expect([otherWrapped === wrapped, otherContent === content]).toEqual([false, false]);
    }),
  );
});

test("moved to another tenant, record or version it does not open", () => {
  fc.assert(
    fc.property(contexts, contexts, (from, to) => {
      fc.pre(from.tenant !== to.tenant || from.record !== to.record || from.version !== to.version);
      expect(refusal(encryption, to, encryption.encrypt(from, "secret"))).toBe("not_authentic");
    }),
  );
  const names = ["tenant", "record", "version"] as const;
  for (const name of names) {
    expect(
      refusal(encryption, { ...context, [name]: `${context[name]}x` }, encryption.encrypt(context, "secret")),
    ).toBe("not_authentic");
  }
  // What lies side by side in it does not run together.
  const ciphertext = encryption.encrypt({ tenant: "a", record: "bc", version: "d" }, "secret");
  expect(refusal(encryption, { tenant: "ab", record: "c", version: "d" }, ciphertext)).toBe("not_authentic");
});

test("no flipped bit, lost or added character, and no part of another text opens", () => {
  const ciphertext = encryption.encrypt(context, "a secret of some length");
  for (let at = 0; at < ciphertext.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = String.fromCharCode(ciphertext.charCodeAt(at) ^ (1 << bit));
      refusal(encryption, context, ciphertext.slice(0, at) + flipped + ciphertext.slice(at + 1));
    }
    refusal(encryption, context, ciphertext.slice(0, at) + ciphertext.slice(at + 1));
    refusal(encryption, context, `${ciphertext.slice(0, at)}A${ciphertext.slice(at)}`);
  }
  const other = encryption.encrypt(context, "a secret of some length").split(".");
  const mixed = ciphertext.split(".");
  refusal(encryption, context, [...mixed.slice(0, 3), other[3]].join("."));
  // A data key's envelope is no content, nor the other way round.
  refusal(encryption, context, [...mixed.slice(0, 2), mixed[3], mixed[2]].join("."));
});

test.each(["", "plain text", "v1", "v1...", "v1.a.b.c", "v2.x.y.z", "v1.__proto__.AAAA.AAAA", "v1.a.b"])(
  "%j is no encrypted text",
  (text) => {
    expect(refusal(encryption, context, text)).toBe("malformed");
  },
);

test("the incident and the refusal tell the context and the reason, never the text", () => {
  const ciphertext = encryption.encrypt(context, "hunter2");
  expect(refusal(encryptionOf(second), context, ciphertext)).toBe("unknown_key");
  expect(reported[0]).toMatchObject({
    category: "decryption_failed",
    tenant: "acme",
    details: { record: "0192", version: "secret/1" },
  });
  expect(JSON.stringify(reported)).not.toContain("hunter2");
  expect(JSON.stringify(reported)).not.toContain(ciphertext);
});

test("during a rotation both keys open, the new one encrypts, old texts are outdated", () => {
  const old = encryption.encrypt(context, "secret");
  const rotating = encryptionOf(second, first);
  expect(rotating.decrypt(context, old)).toBe("secret");
  const anew = rotating.encrypt(context, rotating.decrypt(context, old));
  expect([old, anew].map(rotating.isOutdated)).toEqual([true, false]);
  expect(rotating.outdatedPrefix).toBe(prefixOf(first));
  // The other way round, as nodes do that are not restarted yet.
  expect(encryptionOf(first, second).decrypt(context, anew)).toBe("secret");
  const done = encryptionOf(second);
  expect(done.decrypt(context, anew)).toBe("secret");
  expect([done.outdatedPrefix, done.isOutdated(old)]).toEqual([null, false]);
  expect(refusal(done, context, old)).toBe("unknown_key");
  expect(refusal(encryptionOf(third, second), context, old)).toBe("unknown_key");
});

test("the same key as current and as previous is no rotation", () => {
  const same = encryptionOf(first, masterKeyOf(base64(1)));
  expect([same.outdatedPrefix, same.isOutdated(same.encrypt(context, "x"))]).toEqual([null, false]);
});

test("the settings' keys: production has to name one, and no key prints", async () => {
  const settings = { masterKey: null, previousMasterKey: null, development: false, dataDir: "/nowhere", incidents };
  await expect(openEncryption(settings)).rejects.toThrow("SVC_MASTER_KEY is required in production.");
  const opened = await openEncryption({
    ...settings,
    masterKey: new Secret(base64(2)),
    previousMasterKey: new Secret(base64(1)),
  });
  expect(opened.decrypt(context, encryption.encrypt(context, "secret"))).toBe("secret");
  expect(opened.outdatedPrefix).toBe(prefixOf(first));
  expect(Bun.inspect([opened, first]) + JSON.stringify([opened, first])).not.toContain(base64(1).slice(0, 20));
});
