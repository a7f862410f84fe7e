/** The members of enterprise tenants: users of a tenant's own realm, from their first request on. One is the owner. */
import { LRUCache } from "lru-cache";
import type { Identity, Membership } from "../../actors/identity/identity.ts";
import type { Sql } from "../store/postgres/pool.ts";

export interface Members {
  /**
   * What a tenant user is in their tenant. At first sight the membership is stored: the first user of a tenant becomes
   * its owner, unless their token claims another role.
   * @param claimed by the role claim of the token; null: it claims none
   */
  roleOf(user: Pick<Identity, "realm" | "userId" | "homeTenant">, claimed: Membership | null): Promise<Membership>;
}

/** Changes of a role reach every node within 5 s. */
const freshMs = 3000;
const maxRemembered = 10_000;
/** A round comes to nothing only when another user becomes the owner meanwhile. */
const maxRounds = 3;

export interface MembersOptions {
  readonly sql: Sql;
  /** Of a user whose token claims no role. */
  readonly defaultRole: Exclude<Membership, "owner">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function createMembers({ sql, defaultRole, now }: MembersOptions): Members {
  const remembered = new LRUCache<string, { readonly role: Membership; readonly at: number }>({ max: maxRemembered });

  /** The stored role; null: there is no such member. */
  async function stored(tenant: string, realm: string, userId: string): Promise<Membership | null> {
    const [row] = await sql<{ role: Membership }[]>`
      select role from tenant_members where tenant = ${tenant} and realm = ${realm} and user_id = ${userId}`;
    return row?.role ?? null;
  }

  /** Stores a user as the owner where there is none, otherwise in another role; a member stays what they are. */
  async function add(tenant: string, realm: string, userId: string, claimed: Membership | null): Promise<void> {
    const mayOwn = claimed === null || claimed === "owner";
    // There is one owner: a claim that comes too late counts as admin.
    const other = claimed === "owner" ? "admin" : (claimed ?? defaultRole);
    await sql`
      insert into tenant_members (tenant, realm, user_id, role)
      select ${tenant}, ${realm}, ${userId}, case when ${mayOwn} and not exists (
        select 1 from tenant_members where tenant = ${tenant} and role = 'owner') then 'owner' else ${other} end
      on conflict do nothing`;
  }

  /** The claim of a member makes the owner of a tenant that has none. */
  async function promote(tenant: string, realm: string, userId: string): Promise<void> {
    await sql`
      update tenant_members set role = 'owner'
      where tenant = ${tenant} and realm = ${realm} and user_id = ${userId}
        and not exists (select 1 from tenant_members where tenant = ${tenant} and role = 'owner')`.catch(
      (error: unknown) => {
        // Another one was faster.
        if ((error as { code?: unknown }).code !== "23505") throw error;
      },
    );
  }

  async function load(tenant: string, realm: string, userId: string, claimed: Membership | null): Promise<Membership> {
    for (let round = 0; round < maxRounds; round++) {
      const role = await stored(tenant, realm, userId);
      if (role === "owner" || (role !== null && claimed !== "owner")) return role;
      if (role === null) {
        await add(tenant, realm, userId, claimed);
        continue;
      }
      await promote(tenant, realm, userId);
      return (await stored(tenant, realm, userId)) ?? role;
    }
    return defaultRole;
  }

  return {
    async roleOf({ realm, userId, homeTenant: tenant }, claimed) {
      const key = JSON.stringify([tenant, realm, userId, claimed]);
      const known = remembered.get(key);
      if (known !== undefined && now() - known.at < freshMs) return known.role;
      const role = effective(await load(tenant, realm, userId, claimed), claimed);
      remembered.set(key, { role, at: now() });
      return role;
    },
  };
}

/** A claim overrides what is stored, but makes no second owner and leaves the owner the owner. */
function effective(role: Membership, claimed: Membership | null): Membership {
  if (role === "owner" || claimed === null) return role;
  return claimed === "owner" ? "admin" : claimed;
}
