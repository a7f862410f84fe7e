/** The service's own scheme, which it also signs its own calls with: `X-Svc-Signature: sha256=<hex>`. */
import { signatureHeader } from "../../../../lib/digest.ts";
import { hexText, type Preset, readBodyDigest, textBytes } from "./preset.ts";

export const svc: Preset = {
  name: "svc",
  readsPayload: false,
  present: (headers) => headers.has(signatureHeader),
  read: (headers) => readBodyDigest(headers.get(signatureHeader) ?? ""),
  key: () => null,
  handshake: () => null,
  secretBytes: textBytes,
  secretText: hexText,
};
