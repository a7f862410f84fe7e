/**
 * Standard Webhooks: `webhook-signature: v1,<base64>[ v1,<base64>…]` over `<id>.<timestamp>.` and the body. Other
 * versions are skipped. Some senders call the three headers `svix-…`.
 */
import {
  anyComma,
  base64Bytes,
  commaAndBlank,
  decodedSignatures,
  eventText,
  keyText,
  type Malformed,
  member,
  type Preset,
  plainValue,
  type Signed,
  unixSeconds,
} from "./preset.ts";

/** Each set stands for itself: what one signs does not vouch for a header of the other. */
const sets = ["webhook-", "svix-"].map((start) => ({
  id: `${start}id`,
  timestamp: `${start}timestamp`,
  signature: `${start}signature`,
}));
type HeaderSet = (typeof sets)[number];

const secretPrefix = "whsec_";
const versionPrefix = "v1,";

export const standardWebhooks: Preset = {
  name: "standard_webhooks",
  readsPayload: false,
  present: (headers) => sets.some((set) => isPresent(headers, set)),
  read(headers) {
    const found = sets.filter((set) => isPresent(headers, set)).map((set) => readSet(headers, set));
    return found.find((one) => !("malformed" in one)) ?? found[0] ?? { malformed: "missing_part" };
  },
  signedKey: ({ id }) => keyText(id),
  headerKey: () => null,
  guardsReplays: true,
  canCarryTime: true,
  eventNames: (_, payload) => eventText(member(payload, "type")),
  handshake: () => null,
  secretBytes: (text) => base64Bytes(text.startsWith(secretPrefix) ? text.slice(secretPrefix.length) : text),
  secretText: (random) => secretPrefix + Buffer.from(random).toString("base64"),
};

function isPresent(headers: Headers, { id, timestamp, signature }: HeaderSet): boolean {
  return headers.has(signature) || headers.has(id) || headers.has(timestamp);
}

function readSet(headers: Headers, set: HeaderSet): Signed | Malformed {
  const id = headers.get(set.id);
  const time = headers.get(set.timestamp);
  const value = headers.get(set.signature);
  if (!id || time === null || value === null) return { malformed: "missing_part" };
  const fault = plainValue(id, anyComma) ?? plainValue(time, anyComma) ?? plainValue(value, commaAndBlank);
  if (fault !== null) return { malformed: fault };
  const timestamp = unixSeconds(time);
  if (timestamp === null) return { malformed: "bad_timestamp" };
  const versioned = value.split(" ").filter((one) => one !== "");
  const current = versioned
    .filter((one) => one.startsWith(versionPrefix))
    .map((one) => one.slice(versionPrefix.length));
  if (current.length === 0 && versioned.some((one) => !one.includes(","))) return { malformed: "bad_prefix" };
  const signatures = decodedSignatures(current, base64Bytes, "bad_base64");
  return "malformed" in signatures ? signatures : { prefix: `${id}.${time}.`, timestamp, signatures, id };
}
