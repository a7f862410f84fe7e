/** Slack: `X-Slack-Signature: v0=<hex>` over `v0:<timestamp>:` and the body. */
import type { Json } from "../../../../../actors/kernel/json.ts";
import { isForm } from "../../../../../actors/stimulus/content.ts";
import {
  anyComma,
  eventText,
  type Handshake,
  hexBytes,
  hexText,
  keyText,
  type Malformed,
  member,
  type Preset,
  plainValue,
  type Signed,
  textBytes,
  unixSeconds,
} from "./preset.ts";

const signatureHeader = "x-slack-signature";
const timestampHeader = "x-slack-request-timestamp";
const prefix = "v0=";

export const slack: Preset = {
  name: "slack",
  readsPayload: true,
  present: (headers) => headers.has(signatureHeader) || headers.has(timestampHeader),
  read: (headers) => readSlack(headers.get(signatureHeader), headers.get(timestampHeader)),
  signedKey: (_, payload) => keyText(member(payload, "event_id")),
  headerKey: () => null,
  guardsReplays: true,
  canCarryTime: true,
  eventNames: (_, payload) => eventText(member(member(payload, "event") ?? null, "type")),
  handshake: challenged,
  secretBytes: textBytes,
  secretText: hexText,
};

function readSlack(value: string | null, time: string | null): Signed | Malformed {
  if (value === null || time === null) return { malformed: "missing_part" };
  const fault = plainValue(value, anyComma) ?? plainValue(time, anyComma);
  if (fault !== null) return { malformed: fault };
  if (!value.startsWith(prefix)) return { malformed: "bad_prefix" };
  const signature = hexBytes(value.slice(prefix.length));
  if (signature === null) return { malformed: "bad_hex" };
  const timestamp = unixSeconds(time);
  if (timestamp === null) return { malformed: "bad_timestamp" };
  return { prefix: `v0:${time}:`, timestamp, signatures: [signature], id: null };
}

/** Slack asks so whether an address is ready for events. */
function challenged(headers: Headers, payload: Json): Handshake | null {
  if (member(payload, "type") !== "url_verification" || isForm(headers.get("content-type"))) return null;
  return { challenge: member(payload, "challenge") ?? null };
}
