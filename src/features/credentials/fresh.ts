/** Credentials whose tokens have not ended. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Refreshing } from "./oauth/refresh.ts";
import type { CredentialRecords, CredentialRow } from "./records.ts";

export interface FreshOptions {
  readonly records: Pick<CredentialRecords, "find">;
  readonly refreshing: Pick<Refreshing, "atOnce">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Whether its value may be used as far as its state tells. */
export const isUsable = ({ status, expires_at }: CredentialRow, now: number): boolean =>
  status === "active" && (expires_at === null || expires_at.getTime() > now);

/** The same with tokens that have not ended; null: a new consent is needed. @throws Problem 503 while its provider gives none */
export async function freshRow(
  { records, refreshing, now }: FreshOptions,
  row: CredentialRow,
): Promise<CredentialRow | null> {
  const { token_expires_at, tenant, id, version } = row;
  if (token_expires_at === null || token_expires_at.getTime() > now()) return row;
  const outcome = await refreshing.atOnce(tenant, id, null, version);
  if (outcome === "unavailable") {
    throw new Problem("service_unavailable", "A credential's provider gives no tokens", {}, { "Retry-After": "15" });
  }
  const found = outcome === "refreshed" ? await records.find(tenant, id) : null;
  return found !== null && isUsable(found, now()) ? found : null;
}
