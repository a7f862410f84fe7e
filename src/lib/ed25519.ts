/** Ed25519 by the platform's own implementation, which takes only the one spelling of a signature (S < L). */
import { createPublicKey, type KeyObject, verify } from "node:crypto";

/** @param spki SPKI DER of a key that is known to be sound: the platform takes points of small order as well */
export const ed25519Key = (spki: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });

/** Whether the signature is one over one of the texts, as UTF-8. */
export const isSigned = (key: KeyObject, texts: readonly string[], signature: Uint8Array): boolean =>
  texts.some((text) => verify(null, Buffer.from(text), key, signature));
