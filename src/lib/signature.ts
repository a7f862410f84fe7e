/** The signature of what the service sends to others: the one it checks on webhooks sent to it (preset `svc` of docs/reference/stimuli.md). */
import { createHmac } from "node:crypto";

export const signatureHeader = "X-Svc-Signature";

/** @returns `sha256=` and the HMAC-SHA256 of the body in lower-case hex */
export function signatureOf(secret: string, body: string | Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}
