/** Seats: how many people a plan has room for, counted while nothing else of that plan changes. */
import { seatsOf } from "../../../actors/colony/plan.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Tenant, Tenants } from "../../identity/tenants/tenants.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";

/** Whose plan pays for the people of a colony. */
export interface Payer {
  /** Of a team its owner's own tenant. */
  readonly tenant: string;
  readonly kind: "team" | "enterprise";
  /** Null: any number. */
  readonly limit: number | null;
}

/** @param payer of a team: its owner's own tenant as it is in the turn (`inTurn`); what is remembered may be older */
export async function payerOf(team: Tenant, tenants: Pick<Tenants, "find">, payer = team.ownerTenant): Promise<Payer> {
  const { slug, kind, subscriptionTier } = team;
  // An enterprise's tenant without a subscription is not capped.
  if (kind !== "team")
    return { tenant: slug, kind: "enterprise", limit: subscriptionTier === null ? null : room(team) };
  const owner = payer === null ? null : await tenants.find(payer);
  return owner === null || owner.status === "deleted"
    ? { tenant: payer ?? slug, kind: "team", limit: seatsOf("free") }
    : ownerAsPayer(owner);
}

/** Who pays for teams of this owner. @param owner its own tenant */
export const ownerAsPayer = (owner: Pick<Tenant, "slug" | "standing" | "subscription">): Payer => ({
  tenant: owner.slug,
  kind: "team",
  limit: room(owner),
});

/** What is subscribed; where nothing is, as the tier has it. */
const room = ({ standing, subscription }: Pick<Tenant, "standing" | "subscription">): number =>
  subscription?.seats ?? seatsOf(standing.tier);

/**
 * Runs a change of a colony's people after all others that the same plans pay for.
 * @param others further payers whose people the change counts
 * @param work   is told who pays
 */
export async function inTurn<T>(
  sql: Sql,
  tenant: string,
  others: readonly string[],
  work: (tx: Transaction, payer: string) => Promise<T>,
): Promise<T> {
  for (;;) {
    const payer = await payerNow(sql, tenant);
    // The transaction's own value, which `begin` has no type for.
    const done = (await sql.begin(async (tx) => {
      // In one order, so that two do not wait for each other.
      for (const name of [...new Set([payer, ...others])].sort())
        await tx`select pg_advisory_xact_lock(hashtextextended(${`colony ${name}`}, 0))`;
      // The team may have gone to another owner meanwhile.
      return (await payerNow(tx, tenant)) === payer ? { value: await work(tx, payer) } : null;
    })) as { readonly value: T } | null;
    if (done !== null) return done.value;
  }
}

async function payerNow(sql: Sql | Transaction, tenant: string): Promise<string> {
  const [row] = await sql<{ payer: string }[]>`
    select coalesce(owner_tenant, slug) as payer from tenants where slug = ${tenant}`;
  return row?.payer ?? tenant;
}

/** Distinct people, and open invitations, of a tenant; of a person's teams all of them together. */
export async function seatsUsed(sql: Sql | Transaction, { tenant, kind }: Payer, at: Date): Promise<number> {
  const paid = kind === "team" ? sql`t.owner_tenant = ${tenant} and t.kind = 'team'` : sql`t.slug = ${tenant}`;
  const [row] = await sql<{ used: number }[]>`
    with paid as (select slug from tenants t where ${paid} and t.status <> 'deleted')
    select (select count(distinct (realm, user_id)) from tenant_members
        where tenant in (select slug from paid) and status = 'active')::int
      + (select count(*) from invitations
        where tenant in (select slug from paid) and status = 'pending' and expires_at > ${at})::int as used`;
  return row?.used ?? 0;
}

/** @param added people that come @throws Problem 402 `seat_cap_reached` */
export async function requireSeats(tx: Transaction, payer: Payer, added: number, at: Date): Promise<void> {
  if (payer.limit === null) return;
  const used = await seatsUsed(tx, payer, at);
  if (used + added <= payer.limit) return;
  throw new Problem("seat_cap_reached", `The plan has room for ${payer.limit} people`, {
    members_used: used,
    members_limit: payer.limit,
  });
}

/** Distinct people of what a tenant's plan pays for: of a person's own tenant, of all of that person's teams. */
export async function peopleOf(sql: Sql | Transaction, tenant: string): Promise<number> {
  const [row] = await sql<{ people: number }[]>`
    select count(distinct (m.realm, m.user_id))::int as people from tenant_members m join tenants t on t.slug = m.tenant
    where (t.slug = ${tenant} or t.owner_tenant = ${tenant}) and t.status <> 'deleted' and m.status = 'active'`;
  return row?.people ?? 0;
}
