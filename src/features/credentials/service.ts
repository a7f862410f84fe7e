/** Credentials as callers have them: made, shown, rotated, revoked (docs/reference/credentials.md). */
import { mayManage, scopeOf, sees } from "../../../actors/credential/ownership.ts";
import type { Identity } from "../../../actors/identity/identity.ts";
import { invalidField, Problem } from "../../../actors/kernel/problem.ts";
import { readTime } from "../../../actors/kernel/time.ts";
import { isStorable, isStorableJson, unusableText } from "../../../actors/manifest/storable.ts";
import { type List, listOf, type Page } from "../../http/paging.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import { type Audit, type AuditedCall, auditedBy } from "../audit/port.ts";
import type { Encryption } from "../encryption/port.ts";
import { type CredentialRecords, type CredentialRow, type NewCredential, ownedOf } from "./records.ts";
import type { Credential, NewApiKey, Rotation } from "./schema.ts";
import { encryptedValue } from "./values.ts";
import { credentialBody } from "./wire.ts";

/** Who does it, as the audit log tells. */
export interface Caller extends AuditedCall {
  /** The effective tenant. */
  readonly tenant: string;
}

export interface CredentialOptions {
  readonly sql: Sql;
  readonly records: CredentialRecords;
  readonly encryption: Encryption;
  readonly audit: Audit;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** What has to be done outside once a credential is revoked; `row` still has what was erased. Never throws. */
  readonly revoked: (row: CredentialRow) => void;
}

/** Credentials of a tenant that are not revoked. */
const maxCredentials = 1000;
const maxValueBytes = 64 * 1024;
const maxMetadataBytes = 16 * 1024;

export type CredentialService = ReturnType<typeof createCredentials>;

export function createCredentials({ sql, records, encryption, audit, now, revoked }: CredentialOptions) {
  /** @throws Problem 404 `credential_not_found`, also for one that the caller does not see */
  async function find({ tenant, identity }: Caller, id: string, tx: Sql | Transaction = sql, lock = false) {
    const row = await records.find(tenant, id, tx, lock);
    if (row === null || !sees(identity, ownedOf(row))) throw credentialNotFound();
    return row;
  }

  /** The same of one that the caller may change. @throws Problem 403 `not_credential_owner` too */
  async function managed(caller: Caller, id: string, tx: Sql | Transaction = sql, lock = false) {
    const row = await find(caller, id, tx, lock);
    requireManaged(caller.identity, caller.tenant, row);
    return row;
  }

  /**
   * Stores a new one within the bound of its tenant; the same id again is the same piece of work, repeated.
   * @param also done in the same transaction
   * @throws Problem 402 `quota_exceeded`
   */
  function create(
    caller: Caller,
    credential: NewCredential,
    also: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<void> {
    return sql.begin(async (tx) => {
      await records.takeTurn(tx, credential.tenant);
      if ((await records.find(credential.tenant, credential.id, tx)) !== null) return;
      const used = await records.count(tx, credential.tenant);
      if (used >= maxCredentials) {
        const extras = { quota: "max_credentials", limit: maxCredentials, used, tier: null };
        throw new Problem("quota_exceeded", `A tenant may have ${maxCredentials} credentials`, extras);
      }
      await records.insert(tx, credential);
      await also(tx);
      // Of a consent that is only begun, its end is told.
      if (credential.status === "active") await note(tx, caller, "created", credential);
    }) as Promise<void>;
  }

  async function note(tx: Transaction, caller: Caller, what: string, credential: AuditedCredential): Promise<void> {
    await audit.append(tx, auditedBy(caller), auditedCredential(what, credential));
  }

  return {
    find,
    managed,
    create,

    /** @throws Problem 402 `quota_exceeded`, 403 `user_identity_required`, 422 */
    async createKey(caller: Caller, id: string, body: NewApiKey): Promise<Credential> {
      const { tenant, identity } = caller;
      const value = givenValue([body.value, body.api_key_value, body.api_key], "value");
      const { label = null, metadata = {}, credential_type = "secret" } = body;
      const scope = scopeOf(identity, tenant, body.scope ?? null);
      checkMetadata(metadata);
      if (label !== null && !isStorable(label)) throw invalidField("label", unusableText);
      await create(caller, {
        id,
        tenant,
        provider: body.provider.toLowerCase(),
        credential_type,
        label,
        scope,
        status: "active",
        realm: identity.realm,
        user_id: identity.userId,
        metadata,
        oauthScopes: [],
        ciphertext: encryptedValue(encryption, { tenant, id, version: 1 }, value),
        expiresAt: futureTime("expires_at", body.expires_at, now()),
      });
      return credentialBody(await find(caller, id));
    },

    async list(
      { tenant, identity }: Caller,
      filter: { readonly provider?: string; readonly status?: string },
      page: Page,
    ): Promise<List<"credentials", Credential>> {
      const { provider = null, status = null } = filter;
      const rows = await records.list(tenant, identity, { provider: provider?.toLowerCase() ?? null, status }, page);
      const positions = new Map(rows.map(({ id, position }) => [id, position]));
      return listOf("credentials", rows.map(credentialBody), page, ({ id }) => [positions.get(id) ?? "0", id]);
    },

    /**
     * A new value in place of the one before, which is erased.
     * @throws Problem 404, 403 `not_credential_owner`, 409 `credential_revoked`, `invalid_state`, 422
     */
    async rotateKey(caller: Caller, id: string, body: Rotation): Promise<Credential> {
      if (body.provider_params !== undefined && body.provider_params !== null) {
        throw invalidField("provider_params", "is not taken by this provider");
      }
      await sql.begin(async (tx) => {
        const row = await managed(caller, id, tx, true);
        requireRotatable(row);
        if (row.credential_type === "oauth2")
          throw invalidField("new_value", "is not taken: its provider gives the tokens");
        const value = givenValue([body.new_value, body.value], "new_value");
        const version = row.version + 1;
        // An end that has passed belonged to the value before.
        const isOver = row.expires_at !== null && row.expires_at.getTime() <= now();
        await records.replaceValue(tx, row, {
          version,
          ciphertext: encryptedValue(encryption, { ...row, version }, value),
          expiresAt: isOver ? null : row.expires_at,
        });
        await note(tx, caller, "rotated", row);
      });
      return credentialBody(await find(caller, id));
    },

    /** Repeatable. @throws Problem 404, 403 `not_credential_owner` */
    async revoke(caller: Caller, id: string): Promise<void> {
      const row = await sql.begin(async (tx) => {
        const row = await managed(caller, id, tx, true);
        if (row.status === "revoked") return null;
        await records.revoke(tx, row);
        await note(tx, caller, "revoked", row);
        return row;
      });
      if (row !== null) revoked(row);
    },
  };
}

type AuditedCredential = Pick<CredentialRow, "id" | "tenant" | "provider" | "credential_type" | "scope">;

/** @param what such as `created` @param details beside what every entry tells */
export function auditedCredential(
  what: string,
  { id, tenant, provider, credential_type, scope }: AuditedCredential,
  details: Readonly<Record<string, string | null>> = {},
) {
  return {
    tenant,
    action: `credential.${what}`,
    target: { type: "credential", id },
    details: { provider, credential_type, scope, ...details },
  };
}

const credentialNotFound = (): Problem => new Problem("credential_not_found", "There is no such credential");

/** @throws Problem 403 `not_credential_owner` */
function requireManaged(identity: Identity, tenant: string, row: CredentialRow): void {
  if (mayManage(identity, tenant, ownedOf(row))) return;
  throw new Problem("not_credential_owner", "Only its creator and administrators of the tenant may do this");
}

/** @throws Problem 409 */
export function requireRotatable({ status }: CredentialRow): void {
  if (status === "revoked") throw new Problem("credential_revoked", "The credential was revoked");
  if (status === "pending_oauth") throw new Problem("invalid_state", "Its consent is still to be given", { status });
}

/** The value under any of its names. @throws Problem 422 */
function givenValue(given: readonly (string | undefined)[], path: string): string {
  const values = new Set(given.filter((value) => value !== undefined));
  const [value] = values;
  if (value === undefined) throw invalidField(path, "is required");
  if (values.size > 1) throw invalidField(path, "has another name with another value");
  if (Buffer.byteLength(value) > maxValueBytes) throw invalidField(path, `is larger than ${maxValueBytes} bytes`);
  if (!isStorable(value)) throw invalidField(path, unusableText);
  return value;
}

/** @throws Problem 422 */
function checkMetadata(metadata: object): void {
  const text = JSON.stringify(metadata);
  if (Buffer.byteLength(text) > maxMetadataBytes) {
    throw invalidField("metadata", `is larger than ${maxMetadataBytes} bytes`);
  }
  if (!isStorableJson(JSON.parse(text))) throw invalidField("metadata", unusableText);
}

/** @param now Unix milliseconds @throws Problem 422 for a time that has passed */
export function futureTime(path: string, text: string | undefined, now: number): Date | null {
  if (text === undefined) return null;
  const time = readTime(path, text);
  if (time.getTime() <= now) throw invalidField(path, "has passed");
  return time;
}
