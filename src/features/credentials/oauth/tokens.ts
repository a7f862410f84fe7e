/** Tokens as they are stored: by a consent, and by a refresh. */
import { tokenTimes } from "../../../../actors/credential/tokens.ts";
import type { TokenAnswer } from "../../../adapters/oauth/port.ts";
import type { Transaction } from "../../../store/postgres/pool.ts";
import type { AuditedBy } from "../../audit/port.ts";
import type { CredentialRow } from "../records.ts";
import { auditedCredential, type CredentialOptions } from "../service.ts";
import { encryptedTokens } from "../values.ts";

type Options = Pick<CredentialOptions, "records" | "encryption" | "audit" | "now">;

/**
 * Stores what a provider gave, in place of what was stored.
 * @param row  locked by `tx`
 * @param kept the refresh token to go on with where the provider gave no new one
 * @param by   null: nothing is put on record
 */
export async function storeTokens(
  { records, encryption, audit, now }: Options,
  tx: Transaction,
  row: CredentialRow,
  answer: TokenAnswer,
  kept: string | null,
  by: AuditedBy | null,
): Promise<void> {
  const isFirst = row.ciphertext === null;
  const version = isFirst ? row.version : row.version + 1;
  const refreshToken = answer.refreshToken ?? kept;
  await records.storeTokens(tx, row, {
    version,
    ciphertext: encryptedTokens(encryption, { ...row, version }, { accessToken: answer.accessToken, refreshToken }),
    scopes: answer.scopes,
    times: tokenTimes(now(), answer.lifetimeSeconds, refreshToken !== null),
  });
  if (by !== null) await audit.append(tx, by, auditedCredential(isFirst ? "created" : "rotated", row));
}
