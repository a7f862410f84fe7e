/** The SQL of members, tenant first. */
import type { Membership } from "../../../actors/identity/identity.ts";
import type { Page } from "../../http/paging.ts";
import { isUuid } from "../../http/route.ts";
import type { Person } from "../../identity/callers/members.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** A member, or one who is invited. */
export interface MemberRow {
  /** Null: invited, not yet a member. */
  readonly membership_id: string | null;
  readonly invitation_id: string | null;
  readonly realm: string | null;
  readonly user_id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly role: Membership;
  readonly status: "active" | "invited" | "revoked";
  readonly invited_at: Date | null;
  readonly joined_at: Date | null;
}

/** A member who is one. */
export interface ActiveMember extends MemberRow {
  readonly membership_id: string;
  readonly realm: string;
  readonly user_id: string;
}

export type MemberRecords = ReturnType<typeof memberRecords>;

export function memberRecords(sql: Sql) {
  const memberColumns = sql`m.id as membership_id, null::uuid as invitation_id, m.realm, m.user_id, u.email, u.name,
    m.role, m.status, (select max(i.created_at) from invitations i where i.tenant = m.tenant and i.realm = m.realm
      and i.user_id = m.user_id and i.status = 'accepted') as invited_at, m.created_at as joined_at`;
  const members = sql`tenant_members m left join users u on u.realm = m.realm and u.user_id = m.user_id`;

  return {
    /** Members and the invited, longest first; one row more than the page asks for when there are more. */
    async list(tenant: string, at: Date, { limit, offset, after }: Page) {
      const [position = "", id = ""] = after ?? [];
      // A cursor that was tampered with finds nothing.
      if (after !== null && (!/^\d{1,18}$/.test(position) || !isUuid(id))) return [];
      const from =
        after === null
          ? sql`true`
          : sql`(at, id) > (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${id}::uuid)`;
      return sql<(MemberRow & { readonly position: string; readonly row_id: string })[]>`
        select *, id as row_id, (extract(epoch from at) * 1000000)::bigint::text as position from (
          select ${memberColumns}, m.created_at as at, m.id from ${members}
          where m.tenant = ${tenant} and m.status = 'active'
          union all
          select null, id, null, null, address, null, role, 'invited', created_at, null, created_at, id from invitations
          where tenant = ${tenant} and status = 'pending' and expires_at > ${at}
        ) listed where ${from} order by at, id limit ${limit + 1} offset ${offset}`;
    },

    /**
     * Whom an id stands for: a membership's, a subject's, an open invitation's; the first that fits. Several for a subject
     * that two realms know.
     */
    async find(tx: Sql | Transaction, tenant: string, id: string, at: Date): Promise<readonly MemberRow[]> {
      const uuid = isUuid(id) ? id.toLowerCase() : null;
      const rows = await tx<(MemberRow & { readonly fits: number })[]>`
        select ${memberColumns}, case when m.id = ${uuid}::uuid then 1 else 2 end as fits from ${members}
        where m.tenant = ${tenant} and m.status = 'active' and (m.id = ${uuid}::uuid or m.user_id = ${id})
        union all
        select null, id, null, null, address, null, role, 'invited', created_at, null, 3 from invitations
        where tenant = ${tenant} and id = ${uuid}::uuid and status = 'pending' and expires_at > ${at}
        order by fits`;
      return rows.filter(({ fits }) => fits === rows[0]?.fits);
    },

    /** A membership in any state. */
    async one(tx: Sql | Transaction, tenant: string, { realm, userId }: Person): Promise<ActiveMember | null> {
      const [row] = await tx<ActiveMember[]>`
        select ${memberColumns} from ${members}
        where m.tenant = ${tenant} and m.realm = ${realm} and m.user_id = ${userId}`;
      return row ?? null;
    },

    /** Whether an active member is known by the address. */
    async isKnown(tx: Transaction, tenant: string, folded: string): Promise<boolean> {
      const rows = await tx`
        select 1 from tenant_members m join users u on u.realm = m.realm and u.user_id = m.user_id
        where m.tenant = ${tenant} and m.status = 'active' and translate(u.email, ${upper}, ${lower}) = ${folded} limit 1`;
      return rows.length > 0;
    },

    /** Its owner; null: it has none yet. */
    async owner(tx: Transaction, tenant: string): Promise<Person | null> {
      const [row] = await tx<Person[]>`
        select realm, user_id as "userId" from tenant_members where tenant = ${tenant} and role = 'owner'`;
      return row ?? null;
    },

    /** Of those who own teams: consumers alone have a tenant of their own. */
    async kindOf(tx: Sql | Transaction, { realm, userId }: Person): Promise<string | null> {
      const [row] = await tx<{ kind: string }[]>`
        select kind from users where realm = ${realm} and user_id = ${userId}`;
      return row?.kind ?? null;
    },
  };
}

/** As `foldedAddress` compares addresses. */
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const lower = upper.toLowerCase();
