/** What is sealed opens at its place, with its key, unchanged; and nothing else opens. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { Problem } from "../../../actors/kernel/problem.ts";
import { masterKeyOf, prefixOf } from "../../../src/features/encryption/envelope.ts";
import { openSealer } from "../../../src/features/encryption/open.ts";
import type { SealedPlace, Sealer } from "../../../src/features/encryption/port.ts";
import { createSealer } from "../../../src/features/encryption/sealer.ts";
import type { Incident } from "../../../src/features/incidents/incidents.ts";
import { Secret } from "../../../src/lib/secret.ts";

const base64 = (fill: number) => Buffer.alloc(32, fill).toString("base64");
const [first, second, third] = [1, 2, 3].map((fill) => masterKeyOf(base64(fill))) as [Key, Key, Key];
type Key = ReturnType<typeof masterKeyOf>;

const reported: Incident[] = [];
const incidents = { report: (incident: Incident) => void reported.push(incident) };
const sealerOf = (current: Key, previous: Key | null = null): Sealer => createSealer({ current, previous, incidents });
const sealer = sealerOf(first);

const word = fc.string({ unit: "binary", maxLength: 40 });
const places = fc.record<SealedPlace>({ tenant: word, record: word, version: word });
const place: SealedPlace = { tenant: "acme", record: "0192", version: "secret/1" };

/** Why it does not open, as the incident has it. */
function refusal(by: Sealer, at: SealedPlace, sealed: string): string | null {
  reported.length = 0;
  expect(() => by.open(at, sealed)).toThrow(
    new Problem("decryption_failed", "What is stored encrypted cannot be opened"),
  );
  expect(reported).toHaveLength(1);
  return reported[0]?.violationType ?? null;
}

test("any text comes back at its place, and two seals of it differ", () => {
  fc.assert(
    fc.property(places, fc.string({ unit: "binary", maxLength: 300 }), (at, plain) => {
      const sealed = sealer.seal(at, plain);
      expect(sealed).toMatch(/^v1\.[\w-]{12}\.[\w-]{80}\.[\w-]{38,}$/);
      expect(sealer.open(at, sealed)).toBe(plain);
      const [, , wrapped, content] = sealed.split(".");
      const [, , otherWrapped, otherContent] = sealer.seal(at, plain).split(".");
      expect([otherWrapped === wrapped, otherContent === content]).toEqual([false, false]);
    }),
  );
});

test("moved to another tenant, record or version it does not open", () => {
  fc.assert(
    fc.property(places, places, (from, to) => {
      fc.pre(from.tenant !== to.tenant || from.record !== to.record || from.version !== to.version);
      expect(refusal(sealer, to, sealer.seal(from, "secret"))).toBe("not_authentic");
    }),
  );
  const names = ["tenant", "record", "version"] as const;
  for (const name of names) {
    expect(refusal(sealer, { ...place, [name]: `${place[name]}x` }, sealer.seal(place, "secret"))).toBe(
      "not_authentic",
    );
  }
  // What lies side by side in it does not run together.
  const sealed = sealer.seal({ tenant: "a", record: "bc", version: "d" }, "secret");
  expect(refusal(sealer, { tenant: "ab", record: "c", version: "d" }, sealed)).toBe("not_authentic");
});

test("no flipped bit, lost or added character, and no part of another text opens", () => {
  const sealed = sealer.seal(place, "a secret of some length");
  for (let at = 0; at < sealed.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = String.fromCharCode(sealed.charCodeAt(at) ^ (1 << bit));
      refusal(sealer, place, sealed.slice(0, at) + flipped + sealed.slice(at + 1));
    }
    refusal(sealer, place, sealed.slice(0, at) + sealed.slice(at + 1));
    refusal(sealer, place, `${sealed.slice(0, at)}A${sealed.slice(at)}`);
  }
  const other = sealer.seal(place, "a secret of some length").split(".");
  const mixed = sealed.split(".");
  refusal(sealer, place, [...mixed.slice(0, 3), other[3]].join("."));
  // A data key's envelope is no content, nor the other way round.
  refusal(sealer, place, [...mixed.slice(0, 2), mixed[3], mixed[2]].join("."));
});

test.each(["", "plain text", "v1", "v1...", "v1.a.b.c", "v2.x.y.z", "v1.__proto__.AAAA.AAAA", "v1.a.b"])(
  "%j is no sealed text",
  (text) => {
    expect(refusal(sealer, place, text)).toBe("malformed");
  },
);

test("the incident and the refusal tell the place and the reason, never the text", () => {
  const sealed = sealer.seal(place, "hunter2");
  expect(refusal(sealerOf(second), place, sealed)).toBe("unknown_key");
  expect(reported[0]).toMatchObject({
    category: "decryption_failed",
    tenant: "acme",
    details: { record: "0192", version: "secret/1" },
  });
  expect(JSON.stringify(reported)).not.toContain("hunter2");
  expect(JSON.stringify(reported)).not.toContain(sealed);
});

test("during a rotation both keys open, the new one encrypts, old texts are outdated", () => {
  const old = sealer.seal(place, "secret");
  const rotating = sealerOf(second, first);
  expect(rotating.open(place, old)).toBe("secret");
  const anew = rotating.seal(place, rotating.open(place, old));
  expect([old, anew].map(rotating.isOutdated)).toEqual([true, false]);
  expect(rotating.outdatedPrefix).toBe(prefixOf(first));
  // The other way round, as nodes do that are not restarted yet.
  expect(sealerOf(first, second).open(place, anew)).toBe("secret");
  const done = sealerOf(second);
  expect(done.open(place, anew)).toBe("secret");
  expect([done.outdatedPrefix, done.isOutdated(old)]).toEqual([null, false]);
  expect(refusal(done, place, old)).toBe("unknown_key");
  expect(refusal(sealerOf(third, second), place, old)).toBe("unknown_key");
});

test("the same key as current and as previous is no rotation", () => {
  const same = sealerOf(first, masterKeyOf(base64(1)));
  expect([same.outdatedPrefix, same.isOutdated(same.seal(place, "x"))]).toEqual([null, false]);
});

test("the settings' keys: production has to name one, and no key prints", async () => {
  const settings = { masterKey: null, previousMasterKey: null, development: false, dataDir: "/nowhere", incidents };
  await expect(openSealer(settings)).rejects.toThrow("SVC_MASTER_KEY is required in production.");
  const opened = await openSealer({
    ...settings,
    masterKey: new Secret(base64(2)),
    previousMasterKey: new Secret(base64(1)),
  });
  expect(opened.open(place, sealer.seal(place, "secret"))).toBe("secret");
  expect(opened.outdatedPrefix).toBe(prefixOf(first));
  expect(Bun.inspect([opened, first]) + JSON.stringify([opened, first])).not.toContain(base64(1).slice(0, 20));
});
