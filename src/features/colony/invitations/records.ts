/** The SQL of invitations. */
import type { Page } from "../../../http/paging.ts";
import { isUuid } from "../../../http/route.ts";
import type { Person } from "../../../identity/callers/members.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";

export type InvitationStatus = "pending" | "accepted" | "cancelled" | "replaced" | "expired";

export interface InvitationRow {
  readonly id: string;
  readonly tenant: string;
  readonly address: string;
  readonly address_folded: string;
  readonly role: "admin" | "member";
  /** A pending one whose time is over is expired. */
  readonly status: InvitationStatus;
  /** Who accepted it. */
  readonly realm: string | null;
  readonly user_id: string | null;
  readonly by_sign_in: boolean;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export interface NewInvitation extends Pick<InvitationRow, "id" | "tenant" | "address" | "address_folded" | "role"> {
  readonly tokenHash: string;
  readonly at: Date;
  readonly expiresAt: Date;
}

export type InvitationRecords = ReturnType<typeof invitationRecords>;

export function invitationRecords(sql: Sql) {
  const columns = (at: Date) => sql`id, tenant, address, address_folded, role, realm, user_id, by_sign_in, created_at,
    expires_at, case when status = 'pending' and expires_at <= ${at} then 'expired' else status end as status`;

  return {
    /** Newest first; one row more than the page asks for when there are more. */
    async list(tenant: string, status: InvitationStatus | null, at: Date, { limit, offset, after }: Page) {
      const [position = "", id = ""] = after ?? [];
      // A cursor that was tampered with finds nothing.
      if (after !== null && (!/^\d{1,18}$/.test(position) || !isUuid(id))) return [];
      const from =
        after === null
          ? sql`true`
          : sql`(created_at, id) < (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`;
      return sql<(InvitationRow & { readonly position: string })[]>`
        select * from (select ${columns(at)}, (extract(epoch from created_at) * 1000000)::bigint::text as position
          from invitations where tenant = ${tenant} and ${from}) listed
        where ${status}::text is null or status = ${status}
        order by created_at desc, id desc limit ${limit + 1} offset ${offset}`;
    },

    /** Held until the end of the transaction. */
    async held(tx: Transaction, tenant: string, id: string, at: Date): Promise<InvitationRow | null> {
      const [row] = await tx<InvitationRow[]>`
        select ${columns(at)} from invitations where tenant = ${tenant} and id = ${id} for update`;
      return row ?? null;
    },

    /** By what its invited person has. */
    async byToken(tokenHash: string, at: Date): Promise<InvitationRow | null> {
      const [row] = await sql<InvitationRow[]>`
        select ${columns(at)} from invitations where token_hash = ${tokenHash}`;
      return row ?? null;
    },

    /** The open one to an address, held until the end of the transaction. */
    async open(tx: Transaction, tenant: string, folded: string, at: Date): Promise<InvitationRow | null> {
      const [row] = await tx<InvitationRow[]>`
        select ${columns(at)} from invitations
        where tenant = ${tenant} and address_folded = ${folded} and status = 'pending' and expires_at > ${at} for update`;
      return row ?? null;
    },

    /** Frees the address for a new invitation. @returns the id of one that was open until now */
    async replace(tx: Transaction, tenant: string, folded: string, at: Date): Promise<string | null> {
      const [row] = await tx<{ id: string; status: InvitationStatus }[]>`
        update invitations set ended_at = ${at}, status = case when expires_at <= ${at} then 'expired' else 'replaced' end
        where tenant = ${tenant} and address_folded = ${folded} and status = 'pending' returning id, status`;
      return row?.status === "replaced" ? row.id : null;
    },

    /** The same piece of work, done again after a crash, gives its invitation another token. */
    async create(tx: Transaction, made: NewInvitation): Promise<void> {
      await tx`
        insert into invitations
          (id, tenant, address, address_folded, role, token_hash, created_at, expires_at)
        values (${made.id}, ${made.tenant}, ${made.address}, ${made.address_folded}, ${made.role}, ${made.tokenHash},
          ${made.at}, ${made.expiresAt})
        on conflict (id) do update set token_hash = excluded.token_hash, status = 'pending', ended_at = null`;
    },

    async setRole(tx: Transaction, tenant: string, id: string, role: "admin" | "member"): Promise<void> {
      await tx`update invitations set role = ${role} where tenant = ${tenant} and id = ${id} and status = 'pending'`;
    },

    async cancel(tx: Transaction, tenant: string, id: string, at: Date): Promise<void> {
      await tx`
        update invitations set status = 'cancelled', ended_at = ${at}
        where tenant = ${tenant} and id = ${id} and status = 'pending'`;
    },

    /** @param bySignIn the person signed in with the address, and has not used the link */
    async accept(tx: Transaction, id: string, { realm, userId }: Person, bySignIn: boolean, at: Date): Promise<void> {
      await tx`
        update invitations set status = 'accepted', realm = ${realm}, user_id = ${userId}, by_sign_in = ${bySignIn},
          ended_at = ${at}
        where id = ${id}`;
    },

    /** Ended ones. @returns how many */
    async eraseOlder(before: Date, limit: number): Promise<number> {
      const { count } = await sql`
        delete from invitations where id in (
          select id from invitations where expires_at < ${before} order by expires_at limit ${limit} for update skip locked)`;
      return count;
    },

    /** The link of one that was accepted by signing in is used. */
    async linkUsed(tx: Transaction, id: string): Promise<void> {
      await tx`update invitations set by_sign_in = false where id = ${id}`;
    },
  };
}
