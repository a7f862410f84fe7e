/** The stored values: what each ciphertext is bound to, and what it holds. */
import { isObject } from "../../../actors/kernel/json.ts";
import type { EncryptedColumn, Encryption, EncryptionContext } from "../encryption/port.ts";
import type { CredentialRow } from "./records.ts";

type Bound = Pick<CredentialRow, "tenant" | "id" | "version">;

const contextOf = ({ tenant, id, version }: Bound): EncryptionContext => ({
  tenant,
  record: id,
  version: `value/${version}`,
});

/** What an OAuth provider gave. */
export interface Tokens {
  readonly accessToken: string;
  /** Null: when the access token ends, a new consent is needed. */
  readonly refreshToken: string | null;
}

/** What is to be encrypted again after a rotation of the master key. */
export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: "credentials", column: "ciphertext", version: (row) => `value/${row.version}` },
  { table: "oauth_attempts", column: "ciphertext", version: () => "attempt" },
];

export const encryptedValue = (encryption: Encryption, bound: Bound, value: string): string =>
  encryption.encrypt(contextOf(bound), value);

export const encryptedTokens = (encryption: Encryption, bound: Bound, tokens: Tokens): string =>
  encryptedValue(encryption, bound, JSON.stringify(tokens));

/** Null: nothing is stored. @throws Problem 500 `decryption_failed` */
export function storedTokens(encryption: Encryption, row: CredentialRow): Tokens | null {
  if (row.ciphertext === null) return null;
  const tokens: unknown = JSON.parse(encryption.decrypt(contextOf(row), row.ciphertext));
  if (!isObject(tokens)) return null;
  const { accessToken, refreshToken } = tokens;
  if (typeof accessToken !== "string") return null;
  return { accessToken, refreshToken: typeof refreshToken === "string" ? refreshToken : null };
}

/** What an execution gets: the value, or the access token. Null: nothing is stored. @throws as `storedTokens` */
export function usableValue(encryption: Encryption, row: CredentialRow): string | null {
  if (row.credential_type === "oauth2") return storedTokens(encryption, row)?.accessToken ?? null;
  return row.ciphertext === null ? null : encryption.decrypt(contextOf(row), row.ciphertext);
}
