/** The SQL of people. */
import { type Role, systemTenant } from "../../../../actors/identity/identity.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export type PersonStatus = "invited" | "active" | "disabled";

export interface PersonRow {
  readonly id: string;
  /** The tenant whose people they are; `svc-system` for operators and consumers. */
  readonly tenant: string;
  readonly realm: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string | null;
  readonly role: Role | null;
  readonly status: PersonStatus;
  readonly password_hash: string | null;
  readonly password_expired: boolean;
  readonly totp_ciphertext: string | null;
  readonly totp_version: number;
  readonly totp_confirmed_at: Date | null;
  /** PostgreSQL's bigint arrives as text. */
  readonly totp_step: string | null;
  readonly last_sign_in_at: Date | null;
  readonly created_at: Date;
  readonly locked_until: Date | null;
}

/** Columns that change, by their names. */
export type PersonChange = {
  readonly [Column in Exclude<keyof PersonRow, "id" | "tenant" | "realm" | "locked_until">]?:
    | string
    | number
    | boolean
    | Date
    | null;
};

/** Whose people those of a realm are: a tenant's own, or the platform's. */
export const peopleTenant = (realm: string): string =>
  realm.startsWith("tenant-") ? realm.slice("tenant-".length) : systemTenant;

const foldAddress = (address: string): string => address.trim().toLowerCase();
/** By which failures of an account are counted, whether it exists or not. */
export const lockKey = (address: string): string => Bun.CryptoHasher.hash("sha256", foldAddress(address), "hex");

export function peopleRecords(sql: Sql) {
  const columns = sql`p.id, p.tenant, p.realm, p.email, p.email_verified, p.name, p.role, p.status, p.password_hash,
    p.password_expired, p.totp_ciphertext, p.totp_version, p.totp_confirmed_at, p.totp_step, p.last_sign_in_at,
    p.created_at, f.locked_until`;
  const joined = sql`people p left join sign_in_failures f on f.realm = p.realm
    and f.address = encode(sha256(convert_to(p.email_folded, 'UTF8')), 'hex') and f.locked_until > now()`;

  return {
    async byId(realm: string, id: string, from: Sql | Transaction = sql): Promise<PersonRow | null> {
      if (!isUuid(id)) return null;
      const [row] = await from<PersonRow[]>`select ${columns} from ${joined} where p.realm = ${realm} and p.id = ${id}`;
      return row ?? null;
    },

    async byAddress(realm: string, address: string, from: Sql | Transaction = sql): Promise<PersonRow | null> {
      if (!isStorable(address) || address.length > 320) return null;
      const [row] = await from<PersonRow[]>`
        select ${columns} from ${joined} where p.realm = ${realm} and p.email_folded = ${foldAddress(address)}`;
      return row ?? null;
    },

    /** In the order in which they came; one more than the page asks for when there are more. */
    list(realm: string, status: PersonStatus | "locked" | null, q: string | null, { limit, offset, after }: Page) {
      const [at = "", id = ""] = after ?? [];
      if (after !== null && (!/^\d{1,18}$/.test(at) || !isUuid(id))) return Promise.resolve([]);
      const from =
        after === null
          ? sql`true`
          : sql`(p.created_at, p.id) > (timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond', ${id}::uuid)`;
      const found =
        q === null
          ? sql`true`
          : sql`(strpos(p.email_folded, ${q.toLowerCase()}) > 0 or strpos(lower(p.name), ${q.toLowerCase()}) > 0)`;
      const state =
        status === null
          ? sql`true`
          : status === "locked"
            ? sql`p.status = 'active' and f.locked_until is not null`
            : status === "active"
              ? sql`p.status = 'active' and f.locked_until is null`
              : sql`p.status = ${status}`;
      return sql<(PersonRow & { position: string })[]>`
        select ${columns}, (extract(epoch from p.created_at) * 1000000)::bigint::text as position
        from ${joined} where p.realm = ${realm} and ${state} and ${found} and ${from}
        order by p.created_at, p.id limit ${limit + 1} offset ${offset}`;
    },

    /** @returns false when the realm has a person of that address */
    async add(
      tx: Transaction,
      person: Pick<PersonRow, "id" | "tenant" | "realm" | "email" | "name" | "role" | "status"> & {
        readonly emailVerified: boolean;
        readonly passwordHash: string | null;
        readonly passwordExpired?: boolean;
      },
    ): Promise<boolean> {
      const { id, tenant, realm, email, name, role, status, emailVerified, passwordHash } = person;
      const rows = await tx`
        insert into people (id, tenant, realm, email, email_folded, email_verified, name, role, status, password_hash,
          password_expired)
        values (${id}, ${tenant}, ${realm}, ${email.trim()}, ${foldAddress(email)}, ${emailVerified}, ${name}, ${role},
          ${status}, ${passwordHash}, ${person.passwordExpired ?? false})
        on conflict (realm, email_folded) do nothing returning 1`;
      return rows.length > 0;
    },

    async change(tx: Transaction, id: string, values: PersonChange): Promise<void> {
      await tx`update people set ${tx(values)}, updated_at = now() where id = ${id}`;
    },

    /** Whether the person may come in, which stays so until the transaction is over. */
    async holdActive(tx: Transaction, realm: string, id: string): Promise<boolean> {
      if (!isUuid(id)) return false;
      const rows = await tx`
        select 1 from people where realm = ${realm} and id = ${id} and status = 'active' for share`;
      return rows.length > 0;
    },

    /** For a change within the transaction. */
    async hold(tx: Transaction, id: string): Promise<void> {
      await tx`select 1 from people where id = ${id} for update`;
    },

    /** A step of the authenticator is taken; false when another request took it, or a later one. */
    async takeStep(tx: Transaction | Sql, id: string, step: number): Promise<boolean> {
      const { count } = await tx`
        update people set totp_step = ${step} where id = ${id} and (totp_step is null or totp_step < ${step})`;
      return count > 0;
    },

    async takeRecoveryCode(tx: Transaction | Sql, person: string, hash: string): Promise<boolean> {
      const { count } = await tx`
        update person_recovery_codes set used_at = now()
        where person_id = ${person} and hash = ${hash} and used_at is null`;
      return count > 0;
    },

    async setRecoveryCodes(tx: Transaction, { id, tenant }: PersonRow, hashes: readonly string[]): Promise<void> {
      await tx`delete from person_recovery_codes where person_id = ${id}`;
      if (hashes.length === 0) return;
      await tx`insert into person_recovery_codes ${tx(hashes.map((hash) => ({ person_id: id, tenant, hash })))}`;
    },

    async recoveryCodesLeft(person: string): Promise<number> {
      const [row] = await sql<{ left: number }[]>`
        select count(*)::int as left from person_recovery_codes where person_id = ${person} and used_at is null`;
      return row?.left ?? 0;
    },

    async remove(tx: Transaction, id: string): Promise<void> {
      await tx`delete from people where id = ${id}`;
    },
  };
}

export type PeopleRecords = ReturnType<typeof peopleRecords>;
