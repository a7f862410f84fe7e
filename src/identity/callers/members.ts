/** The members of enterprise tenants and teams. One of each is the owner. */
import type { Identity, Membership } from "../../../actors/identity/identity.ts";
import {
  becomesOwner,
  effectiveRole,
  type InvitedRole,
  roleAtFirstSight,
} from "../../../actors/identity/membership.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { FreshCache } from "../fresh-cache.ts";

/** A person: two realms may issue the same subject for different people. */
export type Person = Pick<Identity, "realm" | "userId">;

/** Pending invitations, as the feature that keeps them answers for them. */
export interface Invitations {
  /**
   * Takes the pending invitation of an address, in the transaction that makes the membership.
   * @param address that the identity provider vouches for, as it wrote it
   * @returns the invited role; null: there is none
   */
  accept(tx: Transaction, tenant: string, address: string, person: Person): Promise<InvitedRole | null>;
}

export interface Members {
  /**
   * What a tenant user is in their tenant. At first sight the membership is stored, unless the tenant is deleted.
   * @param claimed by the role claim of the token; null: it claims none
   * @throws Problem 403 `membership_revoked`
   */
  roleOf(
    user: Pick<Identity, "realm" | "userId" | "homeTenant" | "email">,
    claimed: Membership | null,
  ): Promise<Membership>;
  /** What a person is in a tenant by its records alone; null: no active member. At most 3 s old. */
  find(tenant: string, person: Person): Promise<Membership | null>;
  /** Makes an active member, also of one that was revoked. @throws a unique violation for a second owner */
  admit(tx: Transaction, tenant: string, person: Person, role: Membership): Promise<void>;
  /** Changes the role of an active member. @returns whether there is one @throws a unique violation for a second owner */
  change(tx: Transaction, tenant: string, person: Person, role: Membership): Promise<boolean>;
  /**
   * Ends a membership; an owner's leaves the tenant without one. The person's keys in the tenant are ended by `Keys`.
   * @returns whether it was active
   */
  revoke(tx: Transaction, tenant: string, person: Person): Promise<boolean>;
  /** Has every node read the members of a tenant anew; call it after the commit that changed them. */
  changed(tenant: string): void;
  /** Registers who keeps invitations; until then there are none. */
  invitedBy(invitations: Invitations): void;
}

const maxRemembered = 10_000;
/** A round comes to nothing only when a node of a former version makes another user the owner meanwhile. */
const maxRounds = 3;

export interface MembersOptions {
  readonly sql: Sql;
  /** Of a user whose token claims no role, and whom nothing else makes more. */
  readonly defaultRole: InvitedRole;
  /** Of other nodes' changes; null: these are seen after 3 s. */
  readonly notices?: Pick<Notices, "on" | "tell"> | null;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** A membership with whether it counts; `role` null: there is none that does. */
interface Known {
  readonly tenant: string;
  readonly role: Membership | null;
}

interface Row {
  readonly role: Membership;
  readonly status: "active" | "revoked";
}

export function createMembers({ sql, defaultRole, notices = null, now }: MembersOptions): Members {
  /** By tenant, realm, subject and claim. */
  const atHome = new FreshCache<Known>(maxRemembered, now);
  /** By tenant, realm and subject. */
  const recorded = new FreshCache<Known>(maxRemembered, now);
  let invitations: Invitations = { accept: async () => null };

  function forget(tenant: string | null): void {
    const fits = (known: Known) => tenant === null || known.tenant === tenant;
    atHome.forget(fits);
    recorded.forget(fits);
  }
  notices?.on("member", forget);

  /** Reads and, where the records do not say yet what the user is, writes. Null: the membership is revoked. */
  async function settle(user: Parameters<Members["roleOf"]>[0], claimed: Membership | null) {
    const { homeTenant: tenant, realm, userId, email } = user;
    const [row] = await sql<(Row & Owning)[]>`
      select m.role, m.status, t.owner_email,
        exists (select 1 from tenant_members o where o.tenant = ${tenant} and o.role = 'owner') as has_owner
      from tenant_members m left join tenants t on t.slug = m.tenant
      where m.tenant = ${tenant} and m.realm = ${realm} and m.user_id = ${userId}`;
    if (row?.status === "active" && !becomesOwner(sightOf(row, claimed, email))) return row.role;
    // A revoked member without an address is invited by none.
    if (row?.status === "revoked" && email === null) return null;
    // They are refused behind this: a purge may be over, and nothing erases what is stored after it.
    if (await isDeleted(tenant)) return row?.status === "revoked" ? null : (row?.role ?? claimed ?? defaultRole);
    return inTurn(tenant, async (tx) => {
      const [owning = { owner_email: null, has_owner: false }] = await tx<Owning[]>`
        select (select owner_email from tenants where slug = ${tenant}) as owner_email,
          exists (select 1 from tenant_members where tenant = ${tenant} and role = 'owner') as has_owner`;
      const [mine] = await tx<Row[]>`
        select role, status from tenant_members
        where tenant = ${tenant} and realm = ${realm} and user_id = ${userId} for update`;
      const sight = sightOf(owning, claimed, email);
      if (mine?.status === "active") {
        if (!becomesOwner(sight)) return mine.role;
        await change(tx, tenant, user, "owner");
        return "owner";
      }
      const invited = email === null ? null : await invitations.accept(tx, tenant, email, user);
      if (mine !== undefined && invited === null) return null;
      const role = mine === undefined ? roleAtFirstSight({ ...sight, invited, defaultRole }) : (invited ?? mine.role);
      await admit(tx, tenant, user, role);
      return role;
    });
  }

  const isDeleted = async (tenant: string): Promise<boolean> =>
    (await sql`select 1 from tenants where slug = ${tenant} and status = 'deleted'`).length > 0;

  /** One user of a tenant after the other, so that one alone becomes its owner. */
  async function inTurn<T>(tenant: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        // The transaction's own value, which `begin` has no type for.
        return (await sql.begin(async (tx) => {
          await tx`select pg_advisory_xact_lock(hashtextextended(${`members ${tenant}`}, 0))`;
          return work(tx);
        })) as T;
      } catch (error) {
        const isUnique = (error as { code?: unknown }).code === "23505";
        if (!isUnique || round >= maxRounds) throw error;
      }
    }
  }

  async function admit(tx: Transaction, tenant: string, { realm, userId }: Person, role: Membership): Promise<void> {
    await tx`
      insert into tenant_members (tenant, realm, user_id, role) values (${tenant}, ${realm}, ${userId}, ${role})
      on conflict (tenant, realm, user_id) do update set role = excluded.role, status = 'active', revoked_at = null`;
  }

  async function change(tx: Transaction, tenant: string, { realm, userId }: Person, role: Membership) {
    const { count } = await tx`
      update tenant_members set role = ${role}
      where tenant = ${tenant} and realm = ${realm} and user_id = ${userId} and status = 'active'`;
    return count > 0;
  }

  return {
    async roleOf(user, claimed) {
      const { homeTenant: tenant, realm, userId, email } = user;
      const key = JSON.stringify([tenant, realm, userId, claimed, email]);
      const known = await atHome.get(key, async () => ({ tenant, role: await settle(user, claimed) }));
      if (known.role === null) throw membershipRevoked();
      return effectiveRole(known.role, claimed);
    },
    async find(tenant, { realm, userId }) {
      const known = await recorded.get(JSON.stringify([tenant, realm, userId]), async () => {
        const [row] = await sql<Pick<Row, "role">[]>`
          select role from tenant_members
          where tenant = ${tenant} and realm = ${realm} and user_id = ${userId} and status = 'active'`;
        return { tenant, role: row?.role ?? null };
      });
      return known.role;
    },
    admit,
    change,
    async revoke(tx, tenant, { realm, userId }) {
      const { count } = await tx`
        update tenant_members set status = 'revoked', revoked_at = now(),
          role = case role when 'owner' then 'admin' else role end
        where tenant = ${tenant} and realm = ${realm} and user_id = ${userId} and status = 'active'`;
      return count > 0;
    },
    changed(tenant) {
      forget(tenant);
      notices?.tell("member", tenant);
    },
    invitedBy(others) {
      invitations = others;
    },
  };
}

/** @returns 403: the person was a member, and is none any more */
export const membershipRevoked = () => new Problem("membership_revoked", "The caller's membership was ended");

interface Owning {
  readonly owner_email: string | null;
  readonly has_owner: boolean;
}

const sightOf = ({ owner_email, has_owner }: Owning, claimed: Membership | null, email: string | null) => ({
  claimed,
  email,
  hasOwner: has_owner,
  ownerEmail: owner_email,
});
