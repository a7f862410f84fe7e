/** Published vectors of what daemons and the service sign. */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection, Direction } from "../../../actors/edge/signing.ts";

interface Key {
  readonly seed_hex: string;
  readonly public_key: string;
}

export interface Vector {
  readonly id: string;
  readonly kind: "enroll_proof" | "rotate_proof" | "frame" | "release";
  readonly signer: string;
  readonly signing_input: string;
  readonly signing_input_bytes: number;
  readonly signing_input_sha256: string;
  readonly signature: string;
  readonly token: string;
  readonly token_sha256: string;
  readonly node_id: string;
  readonly new_public_key: string;
  readonly issued_at: number;
  readonly signature_old: string;
  readonly signature_new: string;
  readonly direction: Direction;
  readonly t: string;
  readonly s: number;
  readonly b: string;
  readonly b_bytes: number;
  readonly b_sha256: string;
  readonly frame_text: string;
  readonly file_text: string;
}

interface Negative {
  readonly id: string;
  readonly based_on: string;
  readonly change: string;
  readonly verify_key: keyof typeof keys;
  readonly signing_input: string;
  readonly signature: string;
}

const file = JSON.parse(readFileSync(join(import.meta.dir, "vectors/edge.json"), "utf8")) as {
  readonly keys: Readonly<Record<"host_key" | "host_key_next" | "service_key" | "release_key", Key>>;
  readonly connection: { readonly node_id: string; readonly server_nonce: string; readonly client_nonce: string };
  readonly vectors: readonly Vector[];
  readonly negatives: readonly Negative[];
};

export const { keys, negatives } = file;

/** The connection that the vectors of frames belong to. */
export const connection: Connection = {
  hostId: file.connection.node_id,
  serverNonce: file.connection.server_nonce,
  clientNonce: file.connection.client_nonce,
};

export function vector(id: string): Vector {
  const found = file.vectors.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no vector ${id}`);
  return found;
}

/** The private key of 32 bytes. */
export const keyOfSeed = (seed: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
    format: "der",
    type: "pkcs8",
  });

/** Base64 of the 32 bytes of its public half. */
export const publicHalf = (key: KeyObject): string =>
  Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url").toString("base64");

export const signed = (key: KeyObject, text: string): string => sign(null, Buffer.from(text), key).toString("base64");
