/** Published vectors of signed envelopes, as they go over the wire. */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Vector {
  readonly name: string;
  readonly token: string;
  readonly payload?: unknown;
  /** Instead of `payload`, where a parser would lose digits. */
  readonly payload_wire_text?: string;
  readonly timestamp_iso: string;
  readonly timestamp_unix: number;
  readonly canonical: string;
  readonly canonical_len: number;
  readonly sha256: string;
  readonly signature_b64: string;
}

const file = JSON.parse(readFileSync(join(import.meta.dir, "vectors/seal.json"), "utf8")) as {
  readonly seed: string;
  readonly pub_hex: string;
  readonly pub_b64: string;
  readonly pub_spki_b64: string;
  readonly vectors: readonly Vector[];
};

export const { vectors } = file;

const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(file.seed, "hex")]);
const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });

/** The test key of the vectors. */
export const seed = {
  privateKey,
  publicKey: createPublicKey(privateKey),
  hex: file.pub_hex,
  base64: file.pub_b64,
  spki: file.pub_spki_b64,
};

export function wireOf(
  { payload, payload_wire_text, ...vector }: Vector,
  over: { readonly token?: string; readonly timestamp?: string; readonly signature?: string } = {},
): string {
  const token = JSON.stringify(over.token ?? vector.token);
  const timestamp = over.timestamp ?? JSON.stringify(vector.timestamp_iso);
  const signature = JSON.stringify(over.signature ?? vector.signature_b64);
  const request = payload_wire_text ?? JSON.stringify(payload);
  return `{"protocol":"seal/v1","security_token":${token},"signature":${signature},"payload":${request},"timestamp":${timestamp}}`;
}
