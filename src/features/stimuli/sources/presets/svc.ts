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
/** Of the longest time that is read, with the dot behind it. */
const maxTimeBytes = 16;

export const svc: Preset = {
  name: "svc",
  readsPayload: false,
  present: (headers) => headers.has(signatureHeader),
  read: (headers) => readSvc(headers.get(signatureHeader) ?? "", headers.get(timestampHeader)),
  timeInBody,
  signedKey: () => null,
  headerKey: () => null,
  // Equal bodies may be meant. What carries a time is signed anew each time.
  guardsReplays: false,
  canCarryTime: true,
  eventNames: null,
  handshake: () => null,
  secretBytes: textBytes,
  secretText: hexText,
};

/**
 * Without the header of the time, what was signed with one is what a body would be that begins with it: a person who
 * captured a delivery could send it in that form for ever. Such a body is held to its time like the delivery it may be.
 */
function timeInBody(body: Uint8Array): number | null {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxTimeBytes)).toString("latin1");
  // A time within any tolerance has ten digits until the year 2286; a sender may write zeros before them.
  const [, time] = /^0*([1-9]\d{9})\./.exec(start) ?? [];
  return time === undefined ? null : Number(time);
}

function readSvc(value: string, time: string | null): Signed | Malformed {
  const signed = readBodyDigest(value);
  if ("malformed" in signed || time === null) return signed;
  const fault = plainValue(time, anyComma);
  if (fault !== null) return { malformed: fault };
  const timestamp = unixSeconds(time);
  return timestamp === null ? { malformed: "bad_timestamp" } : { ...signed, prefix: `${time}.`, timestamp };
}
