/** Whether a delivery is the payment provider's: `Stripe-Signature: t=<unix>,v1=<hex>[,v1=<hex>…]` over `<t>.` and the body. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { Secret } from "../../../lib/secret.ts";

/** What the header claims. */
export interface Claimed {
  /** As it is written: it is signed. */
  readonly time: string;
  readonly signatures: readonly Uint8Array[];
}

/** How far the time of a delivery may be from now, either way, s. */
const toleranceSeconds = 300;
/** Characters: room for sixty signatures. */
const maxHeader = 4096;

/** @throws Problem 401 `missing_signature`, 400 `malformed_signature` */
export function readSignature(headers: Headers): Claimed {
  const header = headers.get("stripe-signature");
  if (header === null) throw new Problem("missing_signature", "The delivery carries no signature");
  const parts = header.length > maxHeader ? [] : header.split(",").map((part) => part.trim());
  const [time, ...further] = valuesOf(parts, "t=");
  const signatures = valuesOf(parts, "v1=").flatMap((hex) =>
    /^(?:[0-9a-f]{2}){1,64}$/i.test(hex) ? [Buffer.from(hex, "hex")] : [],
  );
  if (time === undefined || further.length > 0 || !/^\d{1,12}$/.test(time) || signatures.length === 0)
    throw new Problem("malformed_signature", "The signature is malformed");
  return { time, signatures };
}

const valuesOf = (parts: readonly string[], start: string): string[] =>
  parts.filter((part) => part.startsWith(start)).map((part) => part.slice(start.length));

/**
 * Tries every signature with every secret; how long that takes tells nothing of which one fits.
 * @param nowMs Unix milliseconds
 * @throws Problem 401 `invalid_signature`, `signature_expired`
 */
export function verifySignature(
  { time, signatures }: Claimed,
  body: Uint8Array,
  secrets: readonly Secret[],
  nowMs: number,
): void {
  let matches = 0;
  for (const secret of secrets) {
    const right = createHmac("sha256", secret.reveal()).update(`${time}.`).update(body).digest();
    for (const claimed of signatures)
      matches |= right.length === claimed.length && timingSafeEqual(right, claimed) ? 1 : 0;
  }
  if (matches === 0) throw new Problem("invalid_signature", "The signature is not valid");
  if (Math.abs(Math.floor(nowMs / 1000) - Number(time)) > toleranceSeconds)
    throw new Problem("signature_expired", "The signature is too old, or of the future");
}
