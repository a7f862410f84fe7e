/** Encryption at rest: what a record keeps secret is stored encrypted. */
import type { AnswerSeal, RepeatableCall } from "../../http/idempotency.ts";
import type { Encryption } from "./encrypted.ts";

export type { EncryptedColumn, Encryption, EncryptionContext } from "./encrypted.ts";

export { createSigningKeys, type PublicKey, type SigningKeys, shownKey } from "./signing-keys.ts";

/** Keeps the answers of a route that shows values once, for repeats under the same `Idempotency-Key`. */
export const sealedAnswers = (encryption: Pick<Encryption, "encrypt" | "decrypt">): AnswerSeal => ({
  seal: (tenant, record, text) => encryption.encrypt({ tenant, record, version: "answer" }, text),
  open: (tenant, record, sealed) => encryption.decrypt({ tenant, record, version: "answer" }, sealed),
});

/**
 * A call as `idempotent` takes it, whose body holds a value that must not be kept: the digest that is kept of it for a
 * day tells nothing of the value to who has not the master key.
 */
export const withoutDigest = (
  { request, identity, tenant, path, url, signal, bytes }: RepeatableCall,
  encryption: Pick<Encryption, "fingerprint">,
): RepeatableCall => ({ request, identity, tenant, path, url, signal, bytes: encryption.fingerprint(bytes) });
