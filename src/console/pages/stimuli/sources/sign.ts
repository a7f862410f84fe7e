/** Signs a sample delivery in this browser, as its sender would. The secret goes nowhere. */
import type { Preset } from "../words.ts";

export interface Sample {
  readonly preset: Preset;
  readonly secret: string;
  readonly body: string;
  /** The provider's event, for presets that name it in a header. */
  readonly event: string;
  /** For the svc preset: with its time, as a source may insist on. */
  readonly timed: boolean;
}

/** Whether this browser signs here: it does on https and on localhost only. */
export const canSign = (): boolean => globalThis.crypto?.subtle !== undefined;

/**
 * @param now Unix milliseconds
 * @returns the headers of the delivery
 * @throws Error where the secret is none of the preset
 */
export async function signedHeaders(sample: Sample, now: number): Promise<Record<string, string>> {
  const { preset, secret, body, event, timed } = sample;
  const time = String(Math.floor(now / 1_000));
  const json = { "content-type": "application/json" };
  if (preset === "standard_webhooks") {
    const id = `msg_${crypto.randomUUID()}`;
    const digest = await hmac(decoded(secret), `${id}.${time}.${body}`);
    return {
      ...json,
      "webhook-id": id,
      "webhook-timestamp": time,
      "webhook-signature": `v1,${btoa(String.fromCharCode(...digest))}`,
    };
  }
  const sign = async (text: string) => hex(await hmac(new TextEncoder().encode(secret), text));
  switch (preset) {
    case "svc":
      return timed
        ? { ...json, "x-svc-timestamp": time, "x-svc-signature": `sha256=${await sign(`${time}.${body}`)}` }
        : { ...json, "x-svc-signature": `sha256=${await sign(body)}` };
    case "github":
      return {
        ...json,
        "x-github-event": event === "" ? "push" : event,
        "x-github-delivery": crypto.randomUUID(),
        "x-hub-signature-256": `sha256=${await sign(body)}`,
      };
    case "stripe":
      return { ...json, "stripe-signature": `t=${time},v1=${await sign(`${time}.${body}`)}` };
    case "slack":
      return {
        ...json,
        "x-slack-request-timestamp": time,
        "x-slack-signature": `v0=${await sign(`v0:${time}:${body}`)}`,
      };
  }
}

/** A body that the provider could have sent. */
export function sampleBody(preset: Preset, now: number): string {
  const id = Math.floor(now / 1_000).toString(36);
  const samples: Readonly<Record<Preset, object>> = {
    svc: { hello: "from the console", test: true, id },
    github: { ref: "refs/heads/main", repository: { full_name: "you/your-repository" }, test: true, id },
    stripe: { id: `evt_${id}`, type: "invoice.paid", data: { object: { test: true } } },
    slack: { type: "event_callback", event_id: `Ev${id}`, event: { type: "app_mention", text: "A test" } },
    standard_webhooks: { type: "test.sent", data: { test: true, id } },
  };
  return JSON.stringify(samples[preset], null, 2);
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, new TextEncoder().encode(text)));
}

function decoded(secret: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (one) => one.charCodeAt(0));
  } catch {
    throw new Error("A secret of Standard Webhooks is base64, with or without whsec_ before it");
  }
}

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
