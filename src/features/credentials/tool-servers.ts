/** Credentials that tool servers are given: a tenant's, or those of who defined the server. */
import type { Identity } from "../../../actors/identity/identity.ts";
import { Secret } from "../../lib/secret.ts";
import type { Sql } from "../../store/postgres/pool.ts";
import type { Encryption } from "../encryption/port.ts";
import type { ReferenceFault, ResolvedReference } from "../references/port.ts";
import { type FreshOptions, freshRow, isUsable } from "./fresh.ts";
import type { CredentialRow } from "./records.ts";
import { usableValue } from "./values.ts";

/** Who defined a server. */
export interface Definer {
  readonly realm: string | null;
  readonly user_id: string | null;
}

export interface ServerCredential extends ResolvedReference {
  /** Of `oauth2`: an access token. */
  readonly isToken: boolean;
}

export interface ServerCredentials {
  /** Whether a caller may put it into a server of the tenant: one of the tenant, or their own. */
  mayUse(identity: Pick<Identity, "realm" | "userId">, tenant: string, id: string): Promise<boolean>;
  /** What it means now. @throws Problem 503 while its provider gives no tokens, 500 `decryption_failed` */
  meaning(tenant: string, id: string, by: Definer): Promise<ServerCredential | ReferenceFault>;
  /** Notes that it was used. */
  used(tenant: string, ids: readonly string[]): Promise<void>;
}

const notFound: ReferenceFault = {
  code: "credential_not_found",
  message: "there is no such credential that is active",
};
const forbidden: ReferenceFault = { code: "credential_forbidden", message: "it is not that of who defined the server" };

export function serverCredentials(
  options: FreshOptions & { readonly sql: Sql; readonly encryption: Encryption },
): ServerCredentials {
  const { sql, records, encryption, now } = options;
  const isOpenTo = ({ scope, realm, user_id }: CredentialRow, by: Definer) =>
    scope === "tenant" || (realm === by.realm && user_id === by.user_id);

  async function isGone({ tenant, realm, user_id }: CredentialRow): Promise<boolean> {
    const [row] = await sql`
      select 1 from tenant_members where tenant = ${tenant} and realm = ${realm} and user_id = ${user_id}
        and status = 'revoked'`;
    return row !== undefined;
  }

  return {
    async mayUse({ realm, userId }, tenant, id) {
      const row = await records.find(tenant, id);
      return row !== null && isOpenTo(row, { realm, user_id: userId });
    },

    async meaning(tenant, id, by) {
      const found = await records.find(tenant, id);
      if (found === null || !isUsable(found, now())) return notFound;
      if (!isOpenTo(found, by) || (found.scope !== "tenant" && (await isGone(found)))) return forbidden;
      const row = await freshRow(options, found);
      const value = row === null ? null : usableValue(encryption, row);
      if (row === null || value === null) return notFound;
      const secret = new Secret(value);
      const isToken = row.credential_type === "oauth2";
      return { value: secret, hidden: [secret], changedAt: row.updated_at.getTime(), isToken };
    },

    async used(tenant, ids) {
      await sql`update credentials set last_used_at = now() where tenant = ${tenant} and id = any(${[...ids]}::uuid[])`;
    },
  };
}
