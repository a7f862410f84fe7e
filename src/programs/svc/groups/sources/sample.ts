/** A delivery as its sender would sign it. */
import { createHmac, randomUUID } from "node:crypto";
import type { Schemas } from "../../../client/client.ts";
import { usageFailure } from "../../process/exit.ts";

export type Preset = Schemas["Source"]["signature"]["preset"];

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

export interface Sample {
  readonly preset: Preset;
  readonly secret: string;
  readonly body: string;
  /** That github's header names. */
  readonly event: string;
  /** By which a repeat is told; without one each sample is new. */
  readonly key?: string | undefined;
}

/**
 * @param now milliseconds since 1970
 * @returns the headers that vouch for the body and name its key
 * @throws Failure `usage` where the secret is none of the preset, or the preset has its key in the body
 */
export function signedHeaders(sample: Sample, now: number): Record<string, string> {
  const { preset, key } = sample;
  if (key === undefined || preset === "standard_webhooks") return vouchedFor(sample, now);
  if (preset === "stripe" || preset === "slack")
    throw usageFailure(`A repeat of ${preset} is told by the id in its body`, "Give the same --body twice.");
  return { ...vouchedFor(sample, now), "x-idempotency-key": key };
}

function vouchedFor({ preset, secret, body, event, key }: Sample, now: number): Record<string, string> {
  const time = String(Math.floor(now / 1_000));
  const hex = (text: string) => hmac(secret, text).digest("hex");
  switch (preset) {
    case "svc":
      return { "x-svc-timestamp": time, "x-svc-signature": `sha256=${hex(`${time}.${body}`)}` };
    case "github":
      return {
        "x-github-event": event,
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": `sha256=${hex(body)}`,
      };
    case "stripe":
      return { "stripe-signature": `t=${time},v1=${hex(`${time}.${body}`)}` };
    case "slack":
      return { "x-slack-request-timestamp": time, "x-slack-signature": `v0=${hex(`v0:${time}:${body}`)}` };
    case "standard_webhooks": {
      // The signature covers it, so it is the key.
      const id = key ?? `msg_${randomUUID()}`;
      const signature = hmac(keyOf(secret), `${id}.${time}.${body}`).digest("base64");
      return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
    }
  }
}

function keyOf(secret: string): Buffer {
  const text = secret.replace(/^whsec_/, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw usageFailure("The secret of Standard Webhooks is base64, with or without whsec_ before it");
  return Buffer.from(text, "base64");
}

/** A body that the sender could have sent; two are never equal. */
export function sampleBody(preset: Preset): string {
  const id = randomUUID().replaceAll("-", "").slice(0, 16);
  const samples: Readonly<Record<Preset, object>> = {
    svc: { hello: "from the command line", test: true, id },
    github: { ref: "refs/heads/main", repository: { full_name: "you/your-repository" }, test: true, id },
    stripe: { id: `evt_${id}`, type: "invoice.paid", data: { object: { test: true } } },
    slack: { type: "event_callback", event_id: `Ev${id}`, event: { type: "app_mention", text: "A test" } },
    standard_webhooks: { type: "test.sent", data: { test: true, id } },
  };
  return JSON.stringify(samples[preset]);
}
