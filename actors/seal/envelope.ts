/** The envelope of a signed call: its shape, and what its signature is over. */
import { fromBase64 } from "./base64.ts";
import { canonicalTexts } from "./canonical.ts";
import { type JsonNode, MalformedText, type Members, readJsonText } from "./json-text.ts";
import { readTimestamp } from "./timestamp.ts";

const protocolName = "seal/v1";
/** How deep an envelope may nest. */
const maxNesting = 64;
const signatureBytes = 64;

export interface Envelope {
  readonly securityToken: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly payload: Members;
}

/** @throws MalformedText */
export function readEnvelope(bytes: Uint8Array): Envelope {
  const document = readJsonText(bytes, maxNesting);
  if (!(document instanceof Map)) throw new MalformedText("The envelope is not an object");
  if (document.get("protocol") !== protocolName) throw new MalformedText(`protocol is not "${protocolName}"`);
  const securityToken = document.get("security_token");
  if (typeof securityToken !== "string" || securityToken === "")
    throw new MalformedText("security_token is not a text");
  const payload = document.get("payload");
  if (!(payload instanceof Map)) throw new MalformedText("payload is not an object");
  const timestamp = readTimestamp(document.get("timestamp"));
  if (timestamp === null) throw new MalformedText("timestamp is neither an RFC 3339 time nor whole Unix seconds");
  return { securityToken, signature: readSignature(document.get("signature")), timestamp, payload };
}

function readSignature(node: JsonNode | undefined): Uint8Array {
  const bytes = typeof node === "string" ? fromBase64(node) : null;
  if (bytes?.length !== signatureBytes) throw new MalformedText(`signature is not base64 of ${signatureBytes} bytes`);
  return bytes;
}

/** The texts of which one must be signed; as UTF-8. */
export const signedTexts = ({ payload, securityToken, timestamp }: Envelope): readonly string[] =>
  canonicalTexts({ payload, security_token: securityToken, timestamp });
