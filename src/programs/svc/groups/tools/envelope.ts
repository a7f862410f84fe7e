/** Signed calls of tools: a key made for one session, and envelopes signed with it (docs/reference/seal.md). */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";

/** A key of one session. It is never stored. */
export interface SessionKey {
  /** The 32 bytes of the public half, base64url. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

export function createSessionKey(): SessionKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return { publicKey: x, privateKey };
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * One call, signed.
 * @param token the session's
 * @param now milliseconds since 1970
 */
export function signedCall(key: SessionKey, token: string, call: ToolCall, now: number) {
  const timestamp = Math.floor(now / 1_000);
  const payload = { jsonrpc: "2.0" as const, id: randomUUID(), method: "tools/call", params: { ...call } };
  const signed = canonical({ payload, security_token: token, timestamp });
  const signature = sign(null, Buffer.from(signed), key.privateKey).toString("base64");
  return { protocol: "seal/v1" as const, security_token: token, signature, payload, timestamp };
}

/**
 * The bytes that are signed: without white space, members sorted by code point. Numbers and texts stand as
 * `JSON.stringify` writes them, in the envelope as here.
 * @param value of JSON
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => Buffer.compare(codePoints(a), codePoints(b)));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

/** UTF-8 sorts as code points do; JavaScript's own texts do not. */
const codePoints = (text: string): Buffer => Buffer.from(text, "utf8");
