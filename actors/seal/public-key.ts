/** Public keys of agents: the forms in which one may be written, and which keys are none to trust. */
import { fromBase64 } from "./base64.ts";
import { isSoundPoint } from "./curve.ts";

const rawBytes = 32;
/** `SEQUENCE { SEQUENCE { OID 1.3.101.112 } BIT STRING` in front of the 32 bytes. */
const spkiPrefix = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);
/** Longer than every form of a key. */
const maxText = 1024;

/**
 * The 32 bytes of an Ed25519 key written as raw bytes in base64 or base64url, as SPKI in base64 (DER) or as SPKI in PEM.
 *
 * @returns null for other texts, and for points by which a signature proves nothing: those of small order (zero among
 *   them), those off the curve, and spellings of a point other than its one
 */
export function readPublicKey(text: string): Uint8Array | null {
  const raw = text.length > maxText ? null : rawOf(text);
  return raw !== null && isSoundPoint(raw) ? raw : null;
}

/** As `readPublicKey`, and raw bytes in hexadecimal as well. */
export function readPublicKeyOrHex(text: string): Uint8Array | null {
  const trimmed = text.trim();
  if (!/^[0-9a-fA-F]{64}$/.test(trimmed)) return readPublicKey(text);
  const raw = Uint8Array.fromHex(trimmed);
  return isSoundPoint(raw) ? raw : null;
}

function rawOf(text: string): Uint8Array | null {
  // Clients keep a PEM text in one line of a variable now and then.
  const written = text.replaceAll("\\n", "\n").trim();
  const pem = /^-----BEGIN PUBLIC KEY-----([\s\S]*)-----END PUBLIC KEY-----$/.exec(written);
  const bytes = fromBase64(pem === null ? written : (pem[1] ?? "").replace(/\s/g, ""));
  if (bytes === null) return null;
  if (pem === null && bytes.length === rawBytes) return bytes;
  const isSpki =
    bytes.length === spkiPrefix.length + rawBytes && spkiPrefix.every((byte, index) => bytes[index] === byte);
  return isSpki ? bytes.slice(spkiPrefix.length) : null;
}

/** The key as SPKI DER, as crypto libraries take it. */
export function spkiOf(raw: Uint8Array): Uint8Array {
  const spki = new Uint8Array(spkiPrefix.length + rawBytes);
  spki.set(spkiPrefix);
  spki.set(raw, spkiPrefix.length);
  return spki;
}
