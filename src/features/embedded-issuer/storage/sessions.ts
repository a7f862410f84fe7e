/** Sessions of a person, with the grants that were made in them: listed, and ended. */
import { isObject } from "../../../../actors/kernel/json.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";
import { grantDigest, recordVersion, sessionDigest } from "./records.ts";

export interface SessionRow {
  readonly id: string;
  readonly digest: string;
  readonly user_agent: string | null;
  readonly created_at: Date;
  readonly used_at: Date;
}

export function createSessions(sql: Sql, encryption: Encryption) {
  /** The grants of one session. */
  async function grantsOf(tx: Transaction, person: string, session: { id?: string; digest?: string }) {
    const [row] = await tx<{ id: string; tenant: string; ciphertext: string }[]>`
      select id, tenant, ciphertext from issuer_records where person_id = ${person} and model = 'Session'
        and ${session.id === undefined ? tx`digest = ${session.digest ?? ""}` : tx`id = ${session.id}`}`;
    if (row === undefined) return null;
    const context = { tenant: row.tenant, record: row.id, version: recordVersion("Session") };
    const payload: unknown = JSON.parse(encryption.decrypt(context, row.ciphertext));
    const made = isObject(payload) && isObject(payload.authorizations) ? Object.values(payload.authorizations) : [];
    const grants = made.flatMap((one) => (isObject(one) && typeof one.grantId === "string" ? [one.grantId] : []));
    return { id: row.id, grants: grants.map(grantDigest) };
  }

  return {
    /** That the person has, the newest first. */
    list(person: string): Promise<readonly SessionRow[]> {
      return sql<SessionRow[]>`
        select id, digest, user_agent, created_at, used_at from issuer_records
        where person_id = ${person} and model = 'Session' and expires_at > now() order by created_at desc limit 100`;
    },

    /** @returns false when the person has no such session */
    async end(tx: Transaction, person: string, id: string): Promise<boolean> {
      const found = await grantsOf(tx, person, { id });
      if (found === null) return false;
      await tx`
        delete from issuer_records
        where person_id = ${person} and (id = ${found.id} or grant_id = any(${texts(found.grants)}::text::text[]))`;
      return true;
    },

    /**
     * Ends all sessions and refresh tokens of a person.
     * @param but the id of a session that goes on; null: none does
     */
    async endAll(tx: Transaction, person: string, but: string | null = null): Promise<void> {
      const kept = but === null ? null : await grantsOf(tx, person, { digest: sessionDigest(but) });
      await tx`
        delete from issuer_records where person_id = ${person}
          and (${kept?.id ?? null}::uuid is null or id <> ${kept?.id ?? null}::uuid)
          and not coalesce(grant_id = any(${texts(kept?.grants ?? [])}::text::text[]), false)`;
    },

    async sweep(): Promise<void> {
      await sql`delete from issuer_records where expires_at < now() - interval '1 day'`;
    },
  };
}

export type Sessions = ReturnType<typeof createSessions>;
