/** Stripe: `Stripe-Signature: t=<unix>,v1=<hex>[,v1=<hex>…]` over `<t>.` and the body. Other schemes are skipped. */
import {
  commaAndBlank,
  decodedSignatures,
  eventText,
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

const header = "stripe-signature";

export const stripe: Preset = {
  name: "stripe",
  readsPayload: true,
  present: (headers) => headers.has(header),
  read: (headers) => readStripe(headers.get(header) ?? ""),
  signedKey: (_, payload) => keyText(member(payload, "id")),
  headerKey: () => null,
  guardsReplays: true,
  canCarryTime: true,
  eventNames: (_, payload) => eventText(member(payload, "type")),
  handshake: () => null,
  secretBytes: textBytes,
  secretText: hexText,
};

function readStripe(value: string): Signed | Malformed {
  const fault = plainValue(value, commaAndBlank);
  if (fault !== null) return { malformed: fault };
  const parts = value.split(",");
  const [time, ...furtherTimes] = valuesOf(parts, "t=");
  if (furtherTimes.length > 0) return { malformed: "repeated_header" };
  if (time === undefined) return { malformed: "missing_part" };
  const timestamp = unixSeconds(time);
  if (timestamp === null) return { malformed: "bad_timestamp" };
  const signatures = decodedSignatures(valuesOf(parts, "v1="), hexBytes, "bad_hex");
  return "malformed" in signatures ? signatures : { prefix: `${time}.`, timestamp, signatures, id: null };
}

function valuesOf(parts: readonly string[], name: string): string[] {
  return parts.filter((part) => part.startsWith(name)).map((part) => part.slice(name.length));
}
