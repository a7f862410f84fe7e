/** Base64 as the edge protocol has it: the standard alphabet with padding, and one text for the same bytes. */
import { isSoundPoint } from "../seal/curve.ts";
import { spkiOf } from "../seal/public-key.ts";

const text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** @returns null for other texts, and for other numbers of bytes */
export function readBase64(encoded: string, bytes: number): Uint8Array | null {
  if (encoded.length !== 4 * Math.ceil(bytes / 3) || !text.test(encoded)) return null;
  const decoded = Uint8Array.fromBase64(encoded);
  // The last digit may hold bits that mean nothing.
  return decoded.length === bytes && decoded.toBase64() === encoded ? decoded : null;
}

/** SPKI DER of an Ed25519 key given by its 32 bytes. @returns null for what is no key, or none to trust */
export function readEdgeKey(encoded: string): Uint8Array | null {
  const raw = readBase64(encoded, 32);
  return raw !== null && isSoundPoint(raw) ? spkiOf(raw) : null;
}
