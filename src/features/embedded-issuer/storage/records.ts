/**
 * What the provider's protocol keeps, in PostgreSQL: every node serves every session, code and grant. Ids are bearer
 * secrets, so rows are found by digests; contents are encrypted and bound to their row.
 */
import { type Adapter, type AdapterPayload, errors, Provider } from "oidc-provider";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";

export interface RecordsOptions {
  readonly sql: Sql;
  readonly encryption: Encryption;
  readonly realm: string;
  /** Whose rows they are. */
  readonly tenant: string;
  /** A fresh UUIDv7. */
  readonly newId: () => string;
}

interface Row {
  readonly id: string;
  readonly ciphertext: string;
  readonly consumed: number | null;
}

/** Of a record's ciphertext: bound to its row and model. */
export const recordVersion = (model: string): string => `issuer/${model}`;

const digestOf = (kind: string, value: string): string => sha256Hex(`${kind}\0${value}`);
/** By which a session is found without its id being known. */
export const sessionDigest = (id: string): string => digestOf("Session", id);
/** By which all that belongs to a grant is found. */
export const grantDigest = (id: string): string => digestOf("grant", id);

/** Characters kept of what a browser calls itself. */
const maxUserAgent = 256;

/** The provider's storage, a store for each of its models. */
export function issuerRecords(options: RecordsOptions): (model: string) => Adapter {
  return (model) => new Records(model, options);
}

class Records implements Adapter {
  constructor(
    private readonly model: string,
    private readonly options: RecordsOptions,
  ) {}

  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    const { sql, encryption, realm, tenant, newId } = this.options;
    const digest = digestOf(this.model, id);
    const [known] = await sql<{ id: string }[]>`
      select id from issuer_records where realm = ${realm} and model = ${this.model} and digest = ${digest}`;
    const row = known?.id ?? newId();
    const ciphertext = encryption.encrypt(
      { tenant, record: row, version: recordVersion(this.model) },
      JSON.stringify(payload),
    );
    const { grantId, uid, userCode, accountId } = payload;
    const person = typeof accountId === "string" && isUuidText(accountId) ? accountId : null;
    const agent = this.model === "Session" ? (Provider.ctx?.get("user-agent") ?? "").slice(0, maxUserAgent) : null;
    const grant = this.model === "Grant" ? grantDigest(id) : typeof grantId === "string" ? grantDigest(grantId) : null;
    await sql`
      insert into issuer_records (id, tenant, realm, model, digest, grant_id, uid, user_code, person_id, user_agent,
        ciphertext, expires_at)
      values (${row}, ${tenant}, ${realm}, ${this.model}, ${digest}, ${grant},
        ${typeof uid === "string" ? digestOf("uid", uid) : null},
        ${typeof userCode === "string" ? digestOf("user_code", userCode) : null}, ${person}, ${agent},
        ${ciphertext}, now() + ${expiresIn ?? 0} * interval '1 second')
      on conflict (realm, model, digest) do update set grant_id = excluded.grant_id, uid = excluded.uid,
        user_code = excluded.user_code, person_id = excluded.person_id, ciphertext = excluded.ciphertext,
        user_agent = excluded.user_agent, used_at = now(), expires_at = excluded.expires_at
      where issuer_records.id = excluded.id`;
  }

  find(id: string): Promise<AdapterPayload | undefined> {
    return this.one("digest", digestOf(this.model, id));
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.one("uid", digestOf("uid", uid));
  }

  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.one("user_code", digestOf("user_code", userCode));
  }

  /** @throws InvalidGrant when another request has used it meanwhile: all that came of the grant ends */
  async consume(id: string): Promise<void> {
    const { sql, realm } = this.options;
    const digest = digestOf(this.model, id);
    const [row] = await sql<{ grant_id: string | null; won: boolean }[]>`
      with taken as (
        update issuer_records set consumed_at = now()
        where realm = ${realm} and model = ${this.model} and digest = ${digest} and consumed_at is null
        returning grant_id)
      select grant_id, true as won from taken
      union all
      select grant_id, false from issuer_records where realm = ${realm} and model = ${this.model}
        and digest = ${digest} and not exists (select 1 from taken)`;
    if (row?.won) return;
    if (row?.grant_id) await this.endGrant(row.grant_id);
    throw new errors.InvalidGrant("it was used already");
  }

  async destroy(id: string): Promise<void> {
    const { sql, realm } = this.options;
    await sql`
      delete from issuer_records
      where realm = ${realm} and model = ${this.model} and digest = ${digestOf(this.model, id)}`;
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    const { sql, realm } = this.options;
    await sql`
      delete from issuer_records
      where realm = ${realm} and model = ${this.model} and grant_id = ${grantDigest(grantId)}`;
  }

  private async endGrant(grant: string): Promise<void> {
    const { sql, realm } = this.options;
    await sql`delete from issuer_records where realm = ${realm} and grant_id = ${grant}`;
  }

  private async one(column: "digest" | "uid" | "user_code", value: string): Promise<AdapterPayload | undefined> {
    const { sql, encryption, realm, tenant } = this.options;
    const [row] = await sql<Row[]>`
      select id, ciphertext, extract(epoch from consumed_at)::double precision as consumed from issuer_records
      where realm = ${realm} and model = ${this.model} and ${sql(column)} = ${value} and expires_at > now()`;
    if (row === undefined) return undefined;
    const context = { tenant, record: row.id, version: recordVersion(this.model) };
    const payload: AdapterPayload = JSON.parse(encryption.decrypt(context, row.ciphertext));
    return row.consumed === null ? payload : { ...payload, consumed: Math.floor(row.consumed) };
  }
}

const isUuidText = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
