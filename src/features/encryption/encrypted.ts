/** What encryption at rest offers, and what it is told of what it keeps. */

/** What a ciphertext is bound to: in another row it cannot be decrypted. */
export interface EncryptionContext {
  readonly tenant: string;
  /** Id of the record, of any kind. */
  readonly record: string;
  /** Which of the record's secrets, and which version of it, such as `secret/3`. */
  readonly version: string;
}

export interface Encryption {
  /**
   * AES-256-GCM under a data key of its own, which is wrapped by the master key.
   * @param plain well-formed Unicode: half a surrogate pair would come back as U+FFFD
   * @returns printable text without blanks; about 200 characters more than 4/3 of the UTF-8 bytes
   */
  encrypt(context: EncryptionContext, plain: string): string;
  /** @throws Problem 500 `decryption_failed`; an incident of the tenant tells of it */
  decrypt(context: EncryptionContext, ciphertext: string): string;
  /** As `decrypt`, of a text that comes from outside: null for what was not encrypted here, or not in this context. */
  decryptForeign(context: EncryptionContext, ciphertext: string): string | null;
  /** Whether it is wrapped by the earlier master key and should be encrypted again. */
  isOutdated(ciphertext: string): boolean;
  /** A digest under a key of its own that the master key gives: it recognises bytes and tells nothing of them. */
  fingerprint(bytes: Uint8Array): Uint8Array;
  /** What exactly the outdated ciphertexts begin with, so that a query finds them; null: there is no earlier key. */
  readonly outdatedPrefix: string | null;
}

/** A column of ciphertexts, in a table with the columns `id uuid` and `tenant text`. */
export interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  /** `version` of the context of a row's text. */
  readonly version: (row: Readonly<Record<string, unknown>>) => string;
}
