/** Tokens that stand for something that was begun: links of mails, and steps of a sign-in. Only digests are stored. */
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../../../lib/digest.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { PersonRow } from "./records.ts";

export type LinkPurpose = "invitation" | "sign_up" | "reset" | "sign_in";

const minuteMs = 60_000;
/** How long each is good, ms. */
export const linkLifetimeMs: Readonly<Record<LinkPurpose, number>> = {
  invitation: 7 * 24 * 60 * minuteMs,
  sign_up: 24 * 60 * minuteMs,
  reset: 30 * minuteMs,
  sign_in: 15 * minuteMs,
};

export interface Link {
  readonly personId: string;
  readonly purpose: LinkPurpose;
}

export function createLinks(sql: Sql, now: () => number) {
  return {
    /**
     * Makes a token of 256 random bits; earlier ones of the person for the same purpose end, but for sign-ins.
     * @param boundTo the only interaction in which it counts; null: anywhere
     */
    async make(
      tx: Transaction | Sql,
      person: Pick<PersonRow, "id" | "tenant">,
      purpose: LinkPurpose,
      boundTo: string | null = null,
    ): Promise<string> {
      const token = randomBytes(32).toString("base64url");
      if (purpose !== "sign_in")
        await tx`delete from person_tokens where person_id = ${person.id} and purpose = ${purpose}`;
      await tx`
        insert into person_tokens (hash, person_id, tenant, purpose, bound_to, expires_at)
        values (${sha256Hex(token)}, ${person.id}, ${person.tenant}, ${purpose}, ${boundTo},
          ${new Date(now() + linkLifetimeMs[purpose])})`;
      return token;
    },

    /** What an unused token stands for; null for all others. */
    async find(token: string, purposes: readonly LinkPurpose[], boundTo: string | null = null): Promise<Link | null> {
      const [row] = await sql<{ person_id: string; purpose: LinkPurpose }[]>`
        select person_id, purpose from person_tokens
        where hash = ${sha256Hex(token)} and purpose = any(${texts(purposes)}::text::text[]) and bound_to is not distinct from ${boundTo}
          and used_at is null and expires_at > ${new Date(now())}`;
      return row === undefined ? null : { personId: row.person_id, purpose: row.purpose };
    },

    /** @returns false when it was used meanwhile */
    async use(tx: Transaction, token: string): Promise<boolean> {
      const { count } = await tx`
        update person_tokens set used_at = now() where hash = ${sha256Hex(token)} and used_at is null`;
      return count > 0;
    },

    async sweep(): Promise<void> {
      await sql`delete from person_tokens where expires_at < ${new Date(now() - 24 * 60 * minuteMs)}`;
    },
  };
}

export type Links = ReturnType<typeof createLinks>;
