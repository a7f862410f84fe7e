/** What every signature scheme owes (docs/reference/stimuli.md): one suite over all of them. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type PresetName, presetNames } from "../../../../src/features/stimuli/sources/port.ts";
import { presets } from "../../../../src/features/stimuli/sources/presets/presets.ts";
import { readSignatures, verifySignatures } from "../../../../src/features/stimuli/sources/verification/verify.ts";
import { candidateOf, secrets, sign, timedSignature, vector, vectorHeaders } from "./signer.ts";

const bytes = (body: string | Uint8Array): Uint8Array => (typeof body === "string" ? Buffer.from(body) : body);

interface Attempt {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly secret?: string;
  readonly nowMs?: number;
}

/** `verified`, or the code and the reason of the refusal. Anything else that is thrown fails the test. */
function judged(name: PresetName, { headers, body = vector.body, secret, nowMs = vector.at * 1000 }: Attempt): string {
  const candidate = candidateOf(name, [secret ?? secrets[name]]);
  try {
    verifySignatures(readSignatures([candidate], new Headers(headers)), bytes(body), nowMs);
    return "verified";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return [error.code, error.extras.reason].filter(Boolean).join(" ");
  }
}

/** Headers of a scheme with one of them changed; null takes it away. */
function changed(name: PresetName, header: string, value: string | null): Record<string, string> {
  const { [header]: before, ...others } = vectorHeaders[name];
  if (before === undefined) throw new Error(`${name} has no ${header}`);
  return value === null ? others : { ...others, [header]: value };
}

const hmac = vector.digest;
const b64 = vector.standardWebhooks;
const { at } = vector;

/** Scheme, header, its value (null: absent), what is the answer. */
const forms: readonly (readonly [PresetName, string, string | null, string])[] = [
  ...(["svc", "github"] as const).flatMap((name) => {
    const header = name === "svc" ? "x-svc-signature" : "x-hub-signature-256";
    return (
      [
        [null, "missing_signature"],
        ["", "malformed_signature bad_prefix"],
        [hmac, "malformed_signature bad_prefix"],
        [`SHA256=${hmac}`, "malformed_signature bad_prefix"],
        ["sha1=0123456789012345678901234567890123456789", "malformed_signature bad_prefix"],
        ["sha256=", "malformed_signature bad_hex"],
        ["sha256=xyz", "malformed_signature bad_hex"],
        [`sha256=${hmac.slice(1)}`, "malformed_signature bad_hex"],
        [`sha256= ${hmac}`, "malformed_signature bad_hex"],
        [`sha256=0x${hmac}`, "malformed_signature bad_hex"],
        [`sha256=${hmac}é`, "malformed_signature not_ascii"],
        [`sha256=${hmac}, sha256=${hmac}`, "malformed_signature repeated_header"],
        [`sha256=${hmac},sha256=${hmac}`, "malformed_signature repeated_header"],
        ["sha256=0123456789", "invalid_signature mismatch"],
        [`sha256=${hmac}00`, "invalid_signature mismatch"],
        [`sha256=${hmac.replace("9", "8")}`, "invalid_signature mismatch"],
        [`sha256=${hmac.toUpperCase()}`, "verified"],
      ] as const
    ).map(([value, answer]) => [name, header, value, answer] as const);
  }),
  ...(
    [
      [null, "missing_signature"],
      ["", "malformed_signature missing_part"],
      ["garbage", "malformed_signature missing_part"],
      [`t=${at}`, "malformed_signature missing_part"],
      [`v1=${vector.stripe}`, "malformed_signature missing_part"],
      [`t=${at},v0=${vector.stripe}`, "malformed_signature missing_part"],
      [`t=${at},V1=${vector.stripe}`, "malformed_signature missing_part"],
      [`t=,v1=${vector.stripe}`, "malformed_signature bad_timestamp"],
      [`t=-1,v1=${vector.stripe}`, "malformed_signature bad_timestamp"],
      [`t=${at}.5,v1=${vector.stripe}`, "malformed_signature bad_timestamp"],
      [`t=1e9,v1=${vector.stripe}`, "malformed_signature bad_timestamp"],
      [`t=${"9".repeat(400)},v1=${vector.stripe}`, "malformed_signature bad_timestamp"],
      [`t=${at},v1=`, "malformed_signature bad_hex"],
      [`t=${at},v1=xyz,v1=a`, "malformed_signature bad_hex"],
      [`t=${at},v1=${vector.stripe}ü`, "malformed_signature not_ascii"],
      [`t=${at},v1=${vector.stripe}, t=${at},v1=${vector.stripe}`, "malformed_signature repeated_header"],
      [`t=${at},v1=${vector.stripe},t=${at}`, "malformed_signature repeated_header"],
      [`t=${at},v1=abcd`, "invalid_signature mismatch"],
      [`t=${at + 1},v1=${vector.stripe}`, "invalid_signature mismatch"],
      [`t=0${at},v1=${vector.stripe}`, "invalid_signature mismatch"],
      [`t=${at}000,v1=${vector.stripe}`, "invalid_signature timestamp_out_of_tolerance"],
      [`v1=${vector.stripe.toUpperCase()},t=${at}`, "verified"],
      [`t=${at},v0=zz,v1=${vector.slack},v1=${vector.stripe}`, "verified"],
      [`t=${at},v1=xyz,v1=${vector.stripe}`, "verified"],
      [`t=${at},${"v1=00,".repeat(9)}v1=${vector.stripe}`, "verified"],
      [`t=${at},${"v1=00,".repeat(10)}v1=${vector.stripe}`, "invalid_signature mismatch"],
    ] as const
  ).map(([value, answer]) => ["stripe", "stripe-signature", value, answer] as const),
  ...(
    [
      ["x-slack-signature", null, "malformed_signature missing_part"],
      ["x-slack-request-timestamp", null, "malformed_signature missing_part"],
      ["x-slack-signature", `v1=${vector.slack}`, "malformed_signature bad_prefix"],
      ["x-slack-signature", `V0=${vector.slack}`, "malformed_signature bad_prefix"],
      ["x-slack-signature", "v0=", "malformed_signature bad_hex"],
      ["x-slack-signature", "v0=abc", "malformed_signature bad_hex"],
      ["x-slack-signature", `v0=${vector.slack}ß`, "malformed_signature not_ascii"],
      ["x-slack-signature", `v0=${vector.slack}, v0=${vector.slack}`, "malformed_signature repeated_header"],
      ["x-slack-request-timestamp", `${at}, ${at}`, "malformed_signature repeated_header"],
      ["x-slack-request-timestamp", `${at}²`, "malformed_signature not_ascii"],
      ["x-slack-request-timestamp", "", "malformed_signature bad_timestamp"],
      ["x-slack-request-timestamp", "now", "malformed_signature bad_timestamp"],
      ["x-slack-request-timestamp", `${at + 1}`, "invalid_signature mismatch"],
      ["x-slack-signature", "v0=00", "invalid_signature mismatch"],
      ["x-slack-signature", `v0=${vector.slack.toUpperCase()}`, "verified"],
    ] as const
  ).map(([header, value, answer]) => ["slack", header, value, answer] as const),
  ...(
    [
      ["webhook-id", null, "malformed_signature missing_part"],
      ["webhook-id", "", "malformed_signature missing_part"],
      ["webhook-timestamp", null, "malformed_signature missing_part"],
      ["webhook-signature", null, "malformed_signature missing_part"],
      ["webhook-signature", "", "malformed_signature missing_part"],
      ["webhook-signature", `v2,${b64}`, "malformed_signature missing_part"],
      ["webhook-signature", `v1a,${b64}`, "malformed_signature missing_part"],
      ["webhook-signature", b64, "malformed_signature bad_prefix"],
      ["webhook-signature", `v1=${b64}`, "malformed_signature bad_prefix"],
      ["webhook-signature", "v1,", "malformed_signature bad_base64"],
      ["webhook-signature", "v1,bad v1,!!!!", "malformed_signature bad_base64"],
      ["webhook-signature", `v1,${b64.slice(0, -1)}`, "malformed_signature bad_base64"],
      ["webhook-signature", `v1,${b64}é`, "malformed_signature not_ascii"],
      ["webhook-id", "msg_é", "malformed_signature not_ascii"],
      ["webhook-signature", `v1,${b64}, v1,${b64}`, "malformed_signature repeated_header"],
      ["webhook-id", "msg_01, msg_01", "malformed_signature repeated_header"],
      ["webhook-timestamp", "soon", "malformed_signature bad_timestamp"],
      ["webhook-id", "msg_02", "invalid_signature mismatch"],
      ["webhook-timestamp", `${at - 1}`, "invalid_signature mismatch"],
      ["webhook-signature", "v1,AAAA", "invalid_signature mismatch"],
      ["webhook-signature", `v1,bad v1,${b64}`, "verified"],
      ["webhook-signature", `v1,AAAA  v2,x v1,${b64}`, "verified"],
      ["webhook-signature", `${"v1,AAAA ".repeat(9)}v1,${b64}`, "verified"],
      ["webhook-signature", `${"v1,AAAA ".repeat(10)}v1,${b64}`, "invalid_signature mismatch"],
    ] as const
  ).map(([header, value, answer]) => ["standard_webhooks", header, value, answer] as const),
];

test.each(forms)("%s: %s %p is %s", (name, header, value, answer) => {
  expect(judged(name, { headers: changed(name, header, value) })).toBe(answer);
});

describe.each(presetNames.map((name) => [name]))("%s", (name) => {
  const carriesTime = presets[name].read(new Headers(vectorHeaders[name])) as { timestamp: number | null };

  test("the known signature passes, and nothing of another scheme counts", () => {
    expect(judged(name, { headers: vectorHeaders[name] })).toBe("verified");
    for (const other of presetNames.filter((one) => one !== name)) {
      expect(judged(name, { headers: vectorHeaders[other] })).toBe("missing_signature");
    }
    expect(judged(name, { headers: { "x-hub-signature": `sha1=${hmac.slice(24)}` } })).toBe("missing_signature");
    expect(presets[name].name).toBe(name);
  });

  test("a window of tolerance, its ends included", () => {
    const offsets = [-301, -300, -299, 0, 299, 300, 301, 1e9];
    const answers = offsets.map((off) =>
      judged(name, { headers: vectorHeaders[name], nowMs: (at + off) * 1000 + 999 }),
    );
    const late = "invalid_signature timestamp_out_of_tolerance";
    const kept = (off: number) => carriesTime.timestamp === null || Math.abs(off) <= 300;
    expect(answers).toEqual(offsets.map((off) => (kept(off) ? "verified" : late)));
  });

  test("signed bytes pass; any changed byte, or another secret, does not", () => {
    const delivery = fc.record({
      body: fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 300 })),
      secret: fc.uint8Array({ minLength: 16, maxLength: 48 }).map((random) => presets[name].secretText(random)),
      at: fc.integer({ min: 0, max: 4_102_444_800 }),
      place: fc.nat(),
    });
    fc.assert(
      fc.property(delivery, ({ body, secret, at, place }) => {
        const headers = sign[name]({ secret, body, at });
        const nowMs = at * 1000;
        expect(judged(name, { headers, body, secret, nowMs })).toBe("verified");
        const other = Buffer.from(bytes(body));
        const index = place % (other.length + 1);
        if (index === other.length)
          expect(judged(name, { headers, body: Buffer.concat([other, Buffer.of(0)]), secret, nowMs })).toContain(
            "mismatch",
          );
        else {
          other[index] = (other[index] ?? 0) ^ (1 + (place % 255));
          expect(judged(name, { headers, body: other, secret, nowMs })).toBe("invalid_signature mismatch");
        }
        const foreign = presets[name].secretText(Buffer.from("another secret!!"));
        expect(judged(name, { headers, body, secret: foreign, nowMs })).toBe("invalid_signature mismatch");
      }),
    );
  });

  test("no header and no payload makes it throw anything but a refusal", () => {
    const value = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) }),
      fc
        .array(fc.constantFrom("t=", "v1=", "v0=", "v1,", "sha256=", ",", ", ", " ", "17", "ab", "=", "==", "a"), {
          maxLength: 12,
        })
        .map((parts) => parts.join("")),
    );
    const headerNames = Object.keys(vectorHeaders[name]);
    fc.assert(
      fc.property(fc.array(value, { minLength: 3, maxLength: 3 }), fc.json(), (values, json) => {
        const headers = Object.fromEntries(headerNames.map((header, index) => [header, values[index] ?? ""]));
        expect(judged(name, { headers })).toMatch(/^(malformed|invalid)_signature /);
        const payload = JSON.parse(json) as Json;
        const signed = { prefix: "", timestamp: null, signatures: [], id: values[0] ?? null };
        for (const key of [presets[name].signedKey(signed, payload), presets[name].headerKey(new Headers(headers))]) {
          expect(key === null || typeof key === "string").toBe(true);
        }
        presets[name].handshake(new Headers(headers), payload);
      }),
    );
  });

  test("a minted secret is one that the scheme reads, long enough for a route", () => {
    const text = presets[name].secretText(new Uint8Array(32).fill(7));
    expect(presets[name].secretBytes(text)?.length).toBeGreaterThanOrEqual(32);
    expect(text.length).toBeLessThanOrEqual(256);
    expect(presets[name].secretBytes("")).toBe(null);
  });
});

test("the vector of an empty body", () => {
  const headers = { "x-svc-signature": `sha256=${vector.digestOfNothing}` };
  expect(judged("svc", { headers, body: "" })).toBe("verified");
});

test("svc: a timestamp, where there is one, is signed and holds for the tolerance", () => {
  const { at, body } = vector;
  const headers = timedSignature({ secret: secrets.svc, body, at });
  const offsets = [-301, -300, 0, 300, 301];
  const late = "invalid_signature timestamp_out_of_tolerance";
  const answers = offsets.map((off) => judged("svc", { headers, nowMs: (at + off) * 1000 }));
  expect(answers).toEqual([late, "verified", "verified", "verified", late]);
  const { "x-svc-signature": signature = "" } = headers;
  const change = (time: string) =>
    judged("svc", { headers: { "x-svc-signature": signature, "x-svc-timestamp": time } });
  expect(change(`${at + 1}`)).toBe("invalid_signature mismatch");
  for (const time of ["", "soon", "-1", "1e9"]) expect(change(time)).toBe("malformed_signature bad_timestamp");
  expect(change(`${at}, ${at}`)).toBe("malformed_signature repeated_header");
  expect(judged("svc", { headers: { "x-svc-signature": signature } })).toBe("invalid_signature mismatch");
  expect(judged("svc", { headers: { "x-svc-timestamp": `${at}` } })).toBe("missing_signature");
});

test("svc: what was signed with a time is held to it without the header as well", () => {
  const { body } = vector;
  for (const time of [`${at}`, `00000${at}`]) {
    const withTime = `${time}.${body}`;
    const { "x-svc-signature": signature = "" } = sign.svc({ secret: secrets.svc, body: withTime, at });
    const offsets = [-301, 0, 300, 301, 86_400 * 365];
    const answers = offsets.map((off) =>
      judged("svc", { headers: { "x-svc-signature": signature }, body: withTime, nowMs: (at + off) * 1000 }),
    );
    const late = "invalid_signature timestamp_out_of_tolerance";
    expect(answers).toEqual([late, "verified", "verified", late, late]);
  }
  for (const plain of ["", "3.5", "17673230.5", `${at}`, `${at}0.5`, `-${at}.5`, `{"t":${at}.5}`]) {
    const headers = sign.svc({ secret: secrets.svc, body: plain, at });
    expect([plain, judged("svc", { headers, body: plain, nowMs: 0 })]).toEqual([plain, "verified"]);
  }
});

test("standard webhooks: the headers may be called svix-…, a set stands for itself", () => {
  const svix = Object.fromEntries(
    Object.entries(vectorHeaders.standard_webhooks).map(([header, value]) => [
      header.replace("webhook", "svix"),
      value,
    ]),
  );
  expect(judged("standard_webhooks", { headers: svix })).toBe("verified");
  // An unsigned id beside the signed one is not what the delivery is called.
  const headers = new Headers({ ...svix, "webhook-id": "forged" });
  const signed = presets.standard_webhooks.read(headers);
  if ("malformed" in signed) throw new Error(signed.malformed);
  expect(presets.standard_webhooks.signedKey(signed, null)).toBe("msg_01");
  expect(judged("standard_webhooks", { headers: { ...svix, "webhook-id": "forged" } })).toBe("verified");
  const halves = { "webhook-id": "msg_01", "svix-timestamp": `${at}`, "svix-signature": `v1,${b64}` };
  expect(judged("standard_webhooks", { headers: halves })).toBe("malformed_signature missing_part");
});

test.each([
  ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 24],
  ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 24],
  ["whsec_AAECAwQFBgcICQoLDA0ODw==", 16],
  ["whsec_", null],
  ["contract-test-secret", null],
  ["whsec_AAECAwQFBgcICQoLDA0ODw", null],
  ["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY ", null],
  ["WHSEC_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", null],
])("standard webhooks: the secret %p has %p bytes", (text, length) => {
  expect(presets.standard_webhooks.secretBytes(text)?.length ?? null).toBe(length);
});

test("secrets of the other schemes are their text, byte for byte", () => {
  for (const name of presetNames.filter((one) => one !== "standard_webhooks")) {
    expect(Buffer.from(presets[name].secretBytes(" whsec_é\n") ?? []).toString()).toBe(" whsec_é\n");
  }
});

describe("the key of a delivery", () => {
  const signed = { prefix: "", timestamp: null, signatures: [], id: "msg_7" };
  const key = (name: PresetName, headers: Record<string, string>, payload: Json = null) =>
    presets[name].signedKey(signed, payload) ?? presets[name].headerKey(new Headers(headers));

  test("is the one its provider gives", () => {
    expect(key("svc", { "x-github-delivery": "d" }, { id: "a", event_id: "b" })).toBe(null);
    expect(key("github", { "x-github-delivery": "72d3162e" }, { id: "a" })).toBe("72d3162e");
    expect(key("stripe", {}, { id: "evt_1", event_id: "b" })).toBe("evt_1");
    expect(key("slack", {}, { id: "a", event_id: "Ev08" })).toBe("Ev08");
    expect(key("standard_webhooks", {}, { id: "a" })).toBe("msg_7");
  });

  test("is none in a body without one that could be stored", () => {
    const ids: readonly Json[] = [7, null, "", "a\0", "\ud800", "x".repeat(1025), ["evt"], {}];
    const bodies = [
      null,
      7,
      "x",
      [],
      ["id"],
      {},
      JSON.parse('{"__proto__":{"id":"evt"}}'),
      ...ids.map((id) => ({ id })),
    ];
    for (const payload of bodies) expect(key("stripe", {}, payload as Json)).toBe(null);
    expect(key("stripe", {}, { id: "x".repeat(1024) })).toHaveLength(1024);
  });

  test("is none without its header, or with an empty one", () => {
    expect([key("github", {}), key("github", { "x-github-delivery": "" })]).toEqual([null, null]);
  });
});

describe("handshakes", () => {
  const answer = (name: PresetName, headers: Record<string, string>, payload: Json) =>
    presets[name].handshake(new Headers(headers), payload);
  const challenge = { type: "url_verification", challenge: "3eZbrw1a", token: "t" };
  const json = { "content-type": "application/json" };

  test("slack is told its challenge, GitHub that it was heard", () => {
    expect(answer("slack", json, challenge)).toEqual({ challenge: "3eZbrw1a" });
    expect(answer("slack", json, { type: "url_verification" })).toEqual({ challenge: null });
    expect(answer("github", { "x-github-event": "ping" }, null)).toEqual({
      status: "pong",
      stimulus_id: null,
      workflow_execution_id: null,
    });
  });

  test("nothing else is one", () => {
    expect(answer("slack", json, { type: "event_callback", challenge: "x" })).toBe(null);
    expect(answer("slack", { "content-type": "application/x-www-form-urlencoded" }, challenge)).toBe(null);
    expect(answer("slack", json, [challenge])).toBe(null);
    expect(answer("github", { "x-github-event": "push" }, challenge)).toBe(null);
    for (const name of ["svc", "stripe", "standard_webhooks"] as const) {
      expect(answer(name, { ...json, "x-github-event": "ping" }, challenge)).toBe(null);
    }
  });
});
