/** The SQL of teams: their rows among the tenants, and who is in them. */
import type { Membership } from "../../../../actors/identity/identity.ts";
import type { Page } from "../../../http/paging.ts";
import type { Person } from "../../../identity/callers/members.ts";
import type { Sql, Transaction } from "../../../store/postgres/pool.ts";
import type { NewTeam } from "../schema.ts";

export interface TeamRow {
  readonly slug: string;
  readonly display_name: string;
  /** Of the caller. */
  readonly role: Membership | null;
  readonly member_count: number;
  readonly created_at: Date;
  /** Where a list goes on behind it. */
  readonly position: string;
}

export function teamRecords(sql: Sql) {
  const columns = sql`t.slug, t.display_name, t.created_at,
    (extract(epoch from t.created_at) * 1000000)::bigint::text as position,
    (select count(*)::int from tenant_members c where c.tenant = t.slug and c.status = 'active') as member_count`;

  return {
    /** A person's, oldest first; one row more than the page asks for when there are more. */
    async list({ realm, userId }: Person, { limit, offset, after }: Page) {
      const [position = "", slug = ""] = after ?? [];
      // A cursor that was tampered with finds nothing.
      if (after !== null && !/^\d{1,18}$/.test(position)) return [];
      const from =
        after === null
          ? sql`true`
          : sql`(t.created_at, t.slug) >
              (timestamptz 'epoch' + ${position}::bigint * interval '1 microsecond', ${slug})`;
      return sql<TeamRow[]>`
        select ${columns}, m.role from tenant_members m join tenants t on t.slug = m.tenant
        where m.realm = ${realm} and m.user_id = ${userId} and m.status = 'active'
          and t.kind = 'team' and t.status <> 'deleted' and ${from}
        order by t.created_at, t.slug limit ${limit + 1} offset ${offset}`;
    },

    /** A team or an enterprise's tenant that is not deleted. */
    async one(slug: string, role: Membership | null): Promise<TeamRow | null> {
      const [row] = await sql<TeamRow[]>`
        select ${columns}, ${role}::text as role from tenants t where t.slug = ${slug} and t.status <> 'deleted'`;
      return row ?? null;
    },

    async isOwner(slug: string, { realm, userId }: Person): Promise<boolean> {
      const rows = await sql`
        select 1 from tenant_members where tenant = ${slug} and realm = ${realm} and user_id = ${userId}
          and role = 'owner' and status = 'active'`;
      return rows.length > 0;
    },

    async create(tx: Transaction, slug: string, { display_name, tier }: Required<NewTeam>, owner: string) {
      await tx`
        insert into tenants (slug, kind, display_name, team_tier, owner_tenant)
        values (${slug}, 'team', ${display_name}, ${tier}, ${owner})`;
    },

    /** Whether the team is there to be deleted; held until the end of the transaction. */
    async hold(tx: Transaction, slug: string): Promise<boolean> {
      const rows = await tx`
        select 1 from tenants where slug = ${slug} and kind = 'team' and status <> 'deleted' for update`;
      return rows.length > 0;
    },
  };
}
