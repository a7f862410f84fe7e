/** Encryption at rest (platform contract, section 1): what a record keeps secret is stored sealed. */

/** What a sealed text is bound to: moved to another row it does not open. */
export interface SealedPlace {
  readonly tenant: string;
  /** Id of the record, of whatever kind. */
  readonly record: string;
  /** Which of the record's secrets, and which version of it, such as `secret/3`. */
  readonly version: string;
}

export interface Sealer {
  /**
   * AES-256-GCM under a data key of its own, which is wrapped by the master key.
   * @param plain well-formed Unicode: half a surrogate pair would come back as U+FFFD
   * @returns printable text without blanks; about 200 characters more than 4/3 of the UTF-8 bytes
   */
  seal(place: SealedPlace, plain: string): string;
  /** @throws Problem 500 `decryption_failed`; an incident of the tenant tells of it */
  open(place: SealedPlace, sealed: string): string;
  /** Whether it is wrapped by the earlier master key and should be sealed anew. */
  isOutdated(sealed: string): boolean;
  /** What exactly the outdated texts begin with, so that a query finds them; null: there is no earlier key. */
  readonly outdatedPrefix: string | null;
}
