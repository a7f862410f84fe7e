/** Consents that were begun and what became of them, kept for 24 hours. */
import { randomBytes } from "node:crypto";
import type { AuditedBy } from "../../../../actors/kernel/audit.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { sha256Hex } from "../../../lib/digest.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { Encryption } from "../../encryption/port.ts";

export type Outcome = "approved" | "denied" | "expired" | "failed" | "revoked";

export interface AttemptRow {
  readonly id: string;
  readonly tenant: string;
  readonly kind: "code" | "device";
  readonly credential_id: string;
  readonly provider: string;
  readonly realm: string;
  readonly user_id: string;
  readonly actor: AuditedBy["actor"];
  readonly redirect_uri: string | null;
  readonly oauth_scopes: readonly string[];
  readonly ciphertext: string | null;
  readonly interval_s: number | null;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: Outcome | null;
}

export interface NewAttempt extends Omit<AttemptRow, "ciphertext" | "ended_at" | "outcome"> {
  /** What its holder proves it with; only its hash is stored. */
  readonly proof: string;
  /** What only we and the provider know: the verifier, or the provider's device code. */
  readonly hidden: string;
}

/** How long an end is remembered. */
const keptHours = 24;
/** Of a tenant, within that time. */
const maxAttempts = 10_000;

/** 64 hex digits. */
export const newProof = (): string => randomBytes(32).toString("hex");
const isProof = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

export type Attempts = ReturnType<typeof attemptRecords>;

export function attemptRecords(sql: Sql, encryption: Encryption) {
  const contextOf = ({ tenant, id }: Pick<AttemptRow, "tenant" | "id">) => ({ tenant, record: id, version: "attempt" });
  return {
    /** Those of the same credential that are open end: there is one consent at a time. @throws Problem 402 */
    async insert(tx: Transaction, attempt: NewAttempt): Promise<void> {
      const { id, tenant, kind, credential_id, provider, realm, user_id, actor, redirect_uri, interval_s } = attempt;
      const [held] = await tx<{ count: number }[]>`
        select count(*)::int as count from oauth_attempts where tenant = ${tenant}`;
      const used = held?.count ?? 0;
      if (used >= maxAttempts) {
        const extras = { quota: "max_consents_per_day", limit: maxAttempts, used, tier: null };
        throw new Problem("quota_exceeded", `A tenant may begin ${maxAttempts} consents in 24 hours`, extras);
      }
      await tx`
        update oauth_attempts set ended_at = now(), outcome = 'failed', ciphertext = null
        where tenant = ${tenant} and credential_id = ${credential_id} and ended_at is null`;
      await tx`
        insert into oauth_attempts (id, tenant, hash, kind, credential_id, provider, realm, user_id, actor,
          redirect_uri, oauth_scopes, ciphertext, interval_s, next_poll_at, expires_at)
        values (${id}, ${tenant}, ${sha256Hex(attempt.proof)}, ${kind}, ${credential_id}, ${provider}, ${realm},
          ${user_id}, ${JSON.stringify(actor)}::text::jsonb, ${redirect_uri}, ${[...attempt.oauth_scopes]},
          ${encryption.encrypt(contextOf(attempt), attempt.hidden)}, ${interval_s},
          now() + ${interval_s} * interval '1 second', ${attempt.expires_at})`;
    },

    /** With its end, where it has one; null: never given, or forgotten. */
    async find(kind: AttemptRow["kind"], proof: string): Promise<AttemptRow | null> {
      if (!isProof(proof)) return null;
      const [row] = await sql<AttemptRow[]>`
        select id, tenant, kind, credential_id, provider, realm, user_id, actor, redirect_uri, oauth_scopes, ciphertext,
          interval_s, expires_at, ended_at, outcome
        from oauth_attempts where hash = ${sha256Hex(proof)} and kind = ${kind}`;
      return row ?? null;
    },

    /** @throws Problem 500 `decryption_failed` */
    hiddenOf: (row: AttemptRow): string =>
      row.ciphertext === null ? "" : encryption.decrypt(contextOf(row), row.ciphertext),

    /** @returns whether this call ended it: of many at once one does */
    async end(query: Sql | Transaction, { tenant, id }: AttemptRow, outcome: Outcome): Promise<boolean> {
      const { count } = await query`
        update oauth_attempts set ended_at = now(), outcome = ${outcome}, ciphertext = null
        where tenant = ${tenant} and id = ${id} and ended_at is null`;
      return count > 0;
    },

    /** What was ended for a success that did not come about. */
    async failed({ tenant, id }: AttemptRow): Promise<void> {
      await sql`update oauth_attempts set outcome = 'failed' where tenant = ${tenant} and id = ${id}`;
    },

    /** Whether the provider may be asked now; then the next time is an interval later. */
    async takePoll({ tenant, id }: AttemptRow): Promise<boolean> {
      const { count } = await sql`
        update oauth_attempts set next_poll_at = now() + interval_s * interval '1 second'
        where tenant = ${tenant} and id = ${id} and ended_at is null and next_poll_at <= now()`;
      return count > 0;
    },

    /** The provider wants to be asked less often. @returns the new interval, seconds */
    async slowDown({ tenant, id }: AttemptRow): Promise<number> {
      const [row] = await sql<{ interval_s: number }[]>`
        update oauth_attempts
        set interval_s = interval_s + 5, next_poll_at = now() + (interval_s + 5) * interval '1 second'
        where tenant = ${tenant} and id = ${id} returning interval_s`;
      return row?.interval_s ?? 5;
    },

    /** Ends what is too old, removes the credentials that came to nothing, forgets ends after 24 hours. */
    async sweep(): Promise<void> {
      await sql`
        update oauth_attempts set ended_at = now(), outcome = 'expired', ciphertext = null
        where ended_at is null and expires_at <= now()`;
      // One whose attempt has just ended is being exchanged.
      await sql`
        delete from credentials c
        where c.status = 'pending_oauth' and not exists (
          select 1 from oauth_attempts a where a.credential_id = c.id
            and (a.ended_at is null or a.ended_at > now() - interval '2 minutes' and a.outcome = 'approved'))`;
      await sql`delete from oauth_attempts where expires_at < now() - ${keptHours} * interval '1 hour'`;
    },
  };
}
