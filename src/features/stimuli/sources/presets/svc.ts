/**
 * The service's own scheme, which it also signs its own calls with: `X-Svc-Signature: sha256=<hex>` over the body. With
 * `X-Svc-Timestamp` (Unix seconds) `<timestamp>.` and the body are signed.
 */
import { signatureHeader } from "../../../../lib/digest.ts";
import {
  anyComma,
  hexText,
  type Malformed,
  type Preset,
  plainValue,
  readBodyDigest,
  type Signed,
  textBytes,
  unixSeconds,
} from "./preset.ts";

const timestampHeader = "x-svc-timestamp";

export const svc: Preset = {
  name: "svc",
  readsPayload: false,
  present: (headers) => headers.has(signatureHeader),
  read: (headers) => readSvc(headers.get(signatureHeader) ?? "", headers.get(timestampHeader)),
  signedKey: () => null,
  headerKey: () => null,
  // Equal bodies may be meant. What carries a time is signed anew each time.
  guardsReplays: false,
  canCarryTime: true,
  handshake: () => null,
  secretBytes: textBytes,
  secretText: hexText,
};

function readSvc(value: string, time: string | null): Signed | Malformed {
  const signed = readBodyDigest(value);
  if ("malformed" in signed || time === null) return signed;
  const fault = plainValue(time, anyComma);
  if (fault !== null) return { malformed: fault };
  const timestamp = unixSeconds(time);
  return timestamp === null ? { malformed: "bad_timestamp" } : { ...signed, prefix: `${time}.`, timestamp };
}
