/** Secrets of sources: minted, checked against the preset that uses them, encrypted, decrypted. */

import { randomBytes } from "node:crypto";
import { invalidField } from "../../../../../actors/kernel/problem.ts";
import { readReference, type SecretReference } from "../../../../../actors/manifest/references.ts";
import type { EncryptedColumn, Encryption, EncryptionContext } from "../../../encryption/port.ts";
import type { PresetName } from "../port.ts";
import { presets } from "../presets/presets.ts";
import type { SourceRow, StoredSecrets } from "../records.ts";

/** What the secret of this version is bound to. */
const contextOf = ({ tenant, id }: Pick<SourceRow, "tenant" | "id">, version: number): EncryptionContext => ({
  tenant,
  record: id,
  version: `secret/${version}`,
});

/** What is to be encrypted again after a rotation of the master key. */
export const encryptedColumns: readonly EncryptedColumn[] = [
  { table: "stimulus_sources", column: "secret", version: (row) => `secret/${row.secret_version}` },
  {
    table: "stimulus_sources",
    column: "previous_secret",
    version: (row) => `secret/${Number(row.secret_version) - 1}`,
  },
];

/** A secret as senders of the preset configure it: 32 random bytes. */
export const mintedSecret = (preset: PresetName): string => presets[preset].secretText(randomBytes(32));

const referenceMark = "\0reference ";

/**
 * A reference as it is stored in a secret's place. No secret holds the NUL that marks it; the random part keeps a node of
 * an earlier version, which takes the whole for a secret, from accepting what a guess of the reference would sign.
 */
export const textOfReference = ({ text }: SecretReference): string =>
  `${referenceMark}${randomBytes(32).toString("hex")} ${text}`;

/** The reference that a stored text stands for; null: it is a secret itself. */
export function referenceIn(stored: string): SecretReference | null {
  if (!stored.startsWith(referenceMark)) return null;
  const reference = readReference(stored.slice(stored.indexOf(" ", referenceMark.length) + 1));
  return typeof reference === "string" || reference.kind !== "secret" ? null : reference;
}

/** What a reference means is looked at when a delivery is verified. @throws Problem 422 `validation_failed` at `path` when the preset cannot read the secret */
export function checkUsable(preset: PresetName, secret: string, path: string): void {
  if (referenceIn(secret) === null && presets[preset].secretBytes(secret) === null) {
    throw invalidField(path, `is no secret of the preset ${preset}: base64, with or without whsec_ before it`);
  }
}

export const noSecrets: StoredSecrets = {
  secret_version: 0,
  secret: null,
  previous_secret: null,
  previous_expires_at: null,
};

type Owner = Pick<SourceRow, "tenant" | "id" | "secret_version">;

/** In place of what was stored, previous ones included; null stores none. */
export function replacedSecrets(encryption: Encryption, row: Owner, secret: string | null): StoredSecrets {
  const version = row.secret_version + 1;
  return {
    ...noSecrets,
    secret_version: version,
    secret: secret === null ? null : encryption.encrypt(contextOf(row, version), secret),
  };
}

/**
 * A new secret beside the one before.
 * @param before    the text of a secret that was not stored so far; null: the stored one, if there is any
 * @param expiresAt null: the one before is void at once
 */
export function rotatedSecrets(
  encryption: Encryption,
  row: Owner & Pick<SourceRow, "secret">,
  secret: string,
  before: string | null,
  expiresAt: Date | null,
): StoredSecrets {
  // The previous secret is encrypted as the version before the current one. The stored one is that already.
  const version = row.secret_version + (row.secret === null ? 2 : 1);
  const fresh = before === null ? null : encryption.encrypt(contextOf(row, version - 1), before);
  const previous = expiresAt === null ? null : (row.secret ?? fresh);
  return {
    secret_version: version,
    secret: encryption.encrypt(contextOf(row, version), secret),
    previous_secret: previous,
    previous_expires_at: previous === null ? null : expiresAt,
  };
}

/** The stored secret; null when there is none. @throws Problem 500 `decryption_failed` */
export function decryptedSecret(encryption: Encryption, row: SourceRow): string | null {
  return row.secret === null ? null : encryption.decrypt(contextOf(row, row.secret_version), row.secret);
}

/** The one before while it counts; null when there is none. @throws Problem 500 `decryption_failed` */
export function decryptedPrevious(encryption: Encryption, row: SourceRow, at: number): string | null {
  const { previous_secret, previous_expires_at } = row;
  if (previous_secret === null || previous_expires_at === null || previous_expires_at.getTime() <= at) return null;
  return encryption.decrypt(contextOf(row, row.secret_version - 1), previous_secret);
}
