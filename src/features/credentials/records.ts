/** The SQL of credentials, tenant first. */
import type { CredentialScope, Owned, Subject } from "../../../actors/credential/ownership.ts";
import type { TokenTimes } from "../../../actors/credential/tokens.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { Credential } from "./schema.ts";

export interface CredentialRow {
  readonly id: string;
  readonly tenant: string;
  readonly provider: string;
  readonly credential_type: Credential["credential_type"];
  readonly label: string | null;
  readonly scope: CredentialScope;
  readonly status: Credential["status"];
  readonly realm: string;
  readonly user_id: string;
  readonly metadata: Record<string, unknown>;
  readonly oauth_scopes: readonly string[];
  readonly version: number;
  readonly ciphertext: string | null;
  readonly expires_at: Date | null;
  readonly token_expires_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_used_at: Date | null;
  readonly grants_count: number;
}

export interface NewCredential
  extends Pick<
    CredentialRow,
    "id" | "tenant" | "provider" | "credential_type" | "label" | "scope" | "status" | "realm" | "user_id"
  > {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly oauthScopes: readonly string[];
  readonly ciphertext: string | null;
  readonly expiresAt: Date | null;
}

/** What a new consent must agree in with a credential that expired. */
type Kind = Pick<CredentialRow, "tenant" | "provider" | "label" | "scope" | "realm" | "user_id">;

export interface NewTokens {
  readonly version: number;
  readonly ciphertext: string;
  /** Null: those that were asked for. */
  readonly scopes: readonly string[] | null;
  readonly times: TokenTimes;
}

export const ownedOf = ({ scope, realm, user_id: userId }: CredentialRow): Owned => ({ scope, realm, userId });

export type CredentialRecords = ReturnType<typeof credentialRecords>;

export function credentialRecords(sql: Sql) {
  const columns = sql`c.id, c.tenant, c.provider, c.credential_type, c.label, c.scope, c.status, c.realm, c.user_id,
    c.metadata, c.oauth_scopes, c.version, c.ciphertext, c.expires_at, c.token_expires_at, c.created_at, c.updated_at,
    c.last_used_at, (select count(*)::int from credential_grants g where g.credential_id = c.id
      and g.ended_at is null and (g.expires_at is null or g.expires_at > now())) as grants_count`;
  return {
    columns,

    /** Oldest first; one row more than the page asks for when there are more. Revoked ones only where asked for. */
    async list(
      tenant: string,
      { realm, userId }: Subject,
      { provider, status }: { readonly provider: string | null; readonly status: string | null },
      { limit, offset, after }: Page,
    ) {
      const [position = "", id = ""] = after ?? [];
      // A cursor that was tampered with finds nothing.
      if (after !== null && (!/^\d{1,18}$/.test(position) || !isUuid(id))) return [];
      const from =
        after === null
          ? sql`true`
          : sql`(c.created_at, c.id) >
              (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`;
      return sql<(CredentialRow & { position: string })[]>`
        select ${columns}, (extract(epoch from c.created_at) * 1000000)::bigint::text as position from credentials c
        where c.tenant = ${tenant} and (c.scope = 'tenant' or (c.realm = ${realm} and c.user_id = ${userId}))
          and (${provider}::text is null or c.provider = ${provider})
          and case when ${status}::text is null then c.status <> 'revoked' else c.status = ${status} end and ${from}
        order by c.created_at, c.id limit ${limit + 1} offset ${offset}`;
    },

    /** @param lock whether the row is the transaction's until it ends */
    async find(
      tenant: string,
      id: string,
      query: Sql | Transaction = sql,
      lock = false,
    ): Promise<CredentialRow | null> {
      const [row] = await query<CredentialRow[]>`
        select ${columns} from credentials c where c.tenant = ${tenant} and c.id = ${id}
        ${lock ? sql`for update of c` : sql``}`;
      return row ?? null;
    },

    /** Has the changes that count against the tenant's bound take turns. */
    async takeTurn(tx: Transaction, tenant: string): Promise<void> {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`credentials ${tenant}`}, 0))`;
    },

    async count(tx: Transaction, tenant: string): Promise<number> {
      const [row] = await tx<{ count: number }[]>`
        select count(*)::int as count from credentials where tenant = ${tenant} and status <> 'revoked'`;
      return row?.count ?? 0;
    },

    async insert(tx: Transaction, credential: NewCredential): Promise<void> {
      const { id, tenant, provider, credential_type, label, scope, status, realm, user_id, ciphertext } = credential;
      await tx`
        insert into credentials (id, tenant, provider, credential_type, label, scope, status, realm, user_id, metadata,
          oauth_scopes, ciphertext, expires_at)
        values (${id}, ${tenant}, ${provider}, ${credential_type}, ${label}, ${scope}, ${status}, ${realm}, ${user_id},
          ${JSON.stringify(credential.metadata)}::text::jsonb, ${[...credential.oauthScopes]}, ${ciphertext},
          ${credential.expiresAt})`;
    },

    /** A new value in place of the one before, which is gone with it. */
    async replaceValue(
      tx: Transaction,
      { tenant, id }: Pick<CredentialRow, "tenant" | "id">,
      { version, ciphertext, expiresAt }: { version: number; ciphertext: string; expiresAt: Date | null },
    ): Promise<void> {
      await tx`
        update credentials set version = ${version}, ciphertext = ${ciphertext}, status = 'active',
          expires_at = ${expiresAt}, updated_at = now()
        where tenant = ${tenant} and id = ${id}`;
    },

    /**
     * Tokens of a consent or a refresh in place of those before. Its lease is over.
     * @param version of the new tokens
     */
    async storeTokens(
      tx: Transaction,
      { tenant, id }: Pick<CredentialRow, "tenant" | "id">,
      { version, ciphertext, scopes, times }: NewTokens,
    ): Promise<void> {
      const at = (time: number | null) => (time === null ? null : new Date(time));
      await tx`
        update credentials set version = ${version}, ciphertext = ${ciphertext}, status = 'active',
          oauth_scopes = coalesce(${scopes === null ? null : [...scopes]}::text[], oauth_scopes),
          expires_at = ${at(times.expiresAt)}, token_expires_at = ${at(times.tokenExpiresAt)},
          refresh_due_at = ${at(times.refreshDueAt)}, refresh_by = null, refresh_until = null, refresh_failures = 0,
          updated_at = now()
        where tenant = ${tenant} and id = ${id}`;
    },

    /** What a consent that came to nothing leaves. */
    async removePending(query: Sql | Transaction, tenant: string, id: string): Promise<void> {
      await query`delete from credentials where tenant = ${tenant} and id = ${id} and status = 'pending_oauth'`;
    },

    /** The caller's own, expired one of this kind, which a new consent makes active again. */
    async expiredOf(
      { tenant, provider, label, scope, realm, user_id }: Kind,
      query: Sql | Transaction,
    ): Promise<CredentialRow | null> {
      const [row] = await query<CredentialRow[]>`
        select ${columns} from credentials c
        where c.tenant = ${tenant} and c.provider = ${provider} and c.label is not distinct from ${label}
          and c.scope = ${scope} and c.realm = ${realm} and c.user_id = ${user_id} and c.status = 'expired'
          and c.credential_type = 'oauth2' order by c.created_at, c.id limit 1`;
      return row ?? null;
    },

    /** Erases the value and ends the grants. */
    async revoke(tx: Transaction, { tenant, id }: Pick<CredentialRow, "tenant" | "id">): Promise<void> {
      await tx`
        update credentials set status = 'revoked', ciphertext = null, token_expires_at = null, refresh_due_at = null,
          refresh_by = null, refresh_until = null, updated_at = now()
        where tenant = ${tenant} and id = ${id}`;
      await tx`
        update credential_grants set ended_at = now()
        where tenant = ${tenant} and credential_id = ${id} and ended_at is null`;
      await tx`
        update oauth_attempts set ended_at = now(), outcome = 'revoked', ciphertext = null
        where tenant = ${tenant} and credential_id = ${id} and ended_at is null`;
    },
  };
}
