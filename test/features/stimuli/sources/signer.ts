/** Deliveries signed as providers sign them, without any code of the service. */
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { Candidate, PresetName } from "../../../../src/features/stimuli/sources/port.ts";
import { presets } from "../../../../src/features/stimuli/sources/presets/presets.ts";

export interface Delivery {
  /** As the provider's settings show it. */
  readonly secret: string;
  readonly body: string | Uint8Array;
  /** Unix seconds. */
  readonly at: number;
}

/** Known signatures of each scheme (docs/reference/stimuli.md). */
export const vector = {
  body: '{"ref":"main","n":7}',
  at: 1_767_323_045,
  digest: "96f8bbef3ed836139cdce3255bd8259584f5d2047e85e3c2ec78166ca664307c",
  digestOfNothing: "c69368fb157e585bc207bdb755c4bf41b95d1fb08a927910118d90f9629d206f",
  stripe: "43ee7aa4c7d26a44da46a8e44347f6729319dd124ce9e61fa3ffc397d4fa5d1f",
  slack: "e19485355d47dd86599629e6f545c5c674ac2cc77e8ead1a236689134668576b",
  standardWebhooks: "HwUE0YkSd5T4zZbyXaCBXoJeP5AuCikUff0I2bHtveo=",
  standardWebhooksId: "msg_01",
} as const;

export const secrets: Readonly<Record<PresetName, string>> = {
  svc: "contract-test-secret",
  github: "contract-test-secret",
  stripe: "contract-test-secret",
  slack: "contract-test-secret",
  standard_webhooks: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
};

const { at } = vector;
/** Each scheme's headers for the vector's body under its secret. */
export const vectorHeaders: Readonly<Record<PresetName, Record<string, string>>> = {
  svc: { "x-svc-signature": `sha256=${vector.digest}` },
  github: { "x-hub-signature-256": `sha256=${vector.digest}` },
  stripe: { "stripe-signature": `t=${at},v1=${vector.stripe}` },
  slack: { "x-slack-signature": `v0=${vector.slack}`, "x-slack-request-timestamp": `${at}` },
  standard_webhooks: {
    "webhook-id": vector.standardWebhooksId,
    "webhook-timestamp": `${at}`,
    "webhook-signature": `v1,${vector.standardWebhooks}`,
  },
};

const hmac = (secret: string, ...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHmac("sha256", secret);
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};

/** A fresh delivery's headers. */
export const sign: Readonly<Record<PresetName, (delivery: Delivery) => Record<string, string>>> = {
  svc: ({ secret, body }) => ({ "x-svc-signature": `sha256=${hmac(secret, body)}` }),
  github: ({ secret, body }) => ({ "x-hub-signature-256": `sha256=${hmac(secret, body)}` }),
  stripe: ({ secret, body, at }) => ({ "stripe-signature": `t=${at},v1=${hmac(secret, `${at}.`, body)}` }),
  slack: ({ secret, body, at }) => ({
    "x-slack-signature": `v0=${hmac(secret, `v0:${at}:`, body)}`,
    "x-slack-request-timestamp": `${at}`,
  }),
  standard_webhooks: ({ secret, body, at }) => ({
    "webhook-id": "msg_2",
    "webhook-timestamp": `${at}`,
    // It takes texts only: bytes that are none are signed by hand.
    "webhook-signature":
      typeof body === "string"
        ? new Webhook(secret).sign("msg_2", new Date(at * 1000), body)
        : `v1,${createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
            .update(`msg_2.${at}.`)
            .update(body)
            .digest("base64")}`,
  }),
};

/** As the scheme `svc` signs a delivery with its time. */
export const timedSignature = ({ secret, body, at }: Delivery): Record<string, string> => ({
  "x-svc-timestamp": `${at}`,
  "x-svc-signature": `sha256=${hmac(secret, `${at}.`, body)}`,
});

/** A tenant with these secrets, as texts. */
export function candidateOf(
  preset: PresetName,
  texts: readonly string[] = [secrets[preset]],
  {
    tenant = "acme",
    toleranceSeconds = 300,
    requireTimestamp = false,
  }: { tenant?: string; toleranceSeconds?: number; requireTimestamp?: boolean } = {},
): Candidate {
  const keys = texts.map((text) => presets[preset].secretBytes(text) ?? new Uint8Array());
  return { tenant, source: "ci", registered: null, preset, toleranceSeconds, requireTimestamp, secrets: keys };
}
