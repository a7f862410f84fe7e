/** The tenants' rows: who exists, in what state, and with what standing. */
import { LRUCache } from "lru-cache";
import type { Tier } from "../../../actors/identity/identity.ts";
import type { Standing } from "../../../actors/identity/standing.ts";
import { type TenantKind, type TenantStatus, tenantKind } from "../../../actors/identity/tenant.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { type TenantQuotas, type TenantTerms, usualTerms } from "../../../actors/policy/quota.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { Notices } from "../../store/redis/notices.ts";
import { numberOf, type TermsRow, tenantsWithOwners, termsColumns, termsOfRow } from "./tenant-terms.ts";

/** A tenant, as this node knows it. */
export interface Tenant {
  readonly slug: string;
  readonly kind: TenantKind;
  readonly status: TenantStatus;
  /** Deleted, and all that it had was erased. */
  readonly isPurged: boolean;
  readonly standing: Standing;
  /** In force: its own, else its tier's. */
  readonly quotas: TenantQuotas;
  /** Of a consumer's own tenant: when the token was issued whose tier claim is stored, Unix seconds; null: none yet. */
  readonly claimedIat: number | null;
  /** What its own subscriptions give; null: none was ever live. */
  readonly subscriptionTier: Tier | null;
  /** The one of them that counts; null: there was never one. */
  readonly subscription: TenantSubscription | null;
  /** Of a team: the tier it was made with. */
  readonly teamTier: Tier | null;
  /** Of a team: its owner's own tenant. */
  readonly ownerTenant: string | null;
  /** Of a team: the tier of its owner now, `free` where the owner's tenant is deleted. */
  readonly ownerTier: Tier | "system";
}

/** What a tenant's row keeps of the subscription that counts, beside its tier. */
export interface TenantSubscription {
  /** The payment provider's word. */
  readonly status: string;
  /** People it has room for, the owner among them; null: it is not live. */
  readonly seats: number | null;
  /** Null: it is not live, or has no end. */
  readonly periodEnd: Date | null;
}

export interface Tenants {
  /** A tenant as it was at most 3 s ago, and after a notice of its change as it is; null when it does not exist. */
  find(slug: string): Promise<Tenant | null>;
  /** What its quotas and rates go by, as `find`; of one that does not exist what its kind implies. */
  terms(slug: string): Promise<TenantTerms>;
  /** The state alone. */
  status(slug: string): Promise<TenantStatus | null>;
  /**
   * The same, creating the tenant when it does not exist.
   * @param made called in the transaction that creates it
   */
  ensure(slug: string, made?: (tx: Transaction) => Promise<void>): Promise<TenantStatus>;
  /**
   * What a token of a consumer claims for the consumer's own tenant. An older token than the one whose claim is stored
   * changes nothing.
   * @param iat when the token was issued, Unix seconds
   */
  claimTier(slug: string, tier: Tier | null, iat: number): Promise<void>;
  /** Has every node read the tenant anew; call it after the commit that changed it. */
  changed(slug: string): void;
}

/** @throws Problem 403 `tenant_suspended`, `tenant_deleted`: nothing new is begun for such a tenant */
export function requireActive(status: TenantStatus): void {
  if (status === "suspended") throw new Problem("tenant_suspended", "The tenant is suspended");
  if (status === "deleted") throw new Problem("tenant_deleted", "The tenant is deleted");
}

/** State changes are promised to reach every node within 5 s, also where a notice is lost. */
const freshMs = 3000;
const maxRemembered = 10_000;

/** @param notices of other nodes' changes; null: they are seen after 3 s */
export function createTenants(
  sql: Sql,
  now: () => number,
  notices: Pick<Notices, "on" | "tell"> | null = null,
): Tenants {
  const remembered = new LRUCache<string, { readonly tenant: Tenant; readonly at: number }>({ max: maxRemembered });
  /** Raised by every notice: what was read before it may be old. */
  let heard = 0;

  function forget(slug: string | null): void {
    heard++;
    if (slug === null) remembered.clear();
    else remembered.delete(slug);
  }
  notices?.on("tenant", forget);

  async function find(slug: string): Promise<Tenant | null> {
    const known = remembered.get(slug);
    const at = now();
    if (known && at - known.at < freshMs) return known.tenant;
    const before = heard;
    const tenant = await load(sql, slug);
    if (tenant !== null && before === heard) remembered.set(slug, { tenant, at });
    return tenant;
  }

  const status = async (slug: string): Promise<TenantStatus | null> => (await find(slug))?.status ?? null;

  async function terms(slug: string): Promise<TenantTerms> {
    const tenant = await find(slug);
    return tenant === null ? usualTerms(slug) : { tier: tenant.standing.tier, quotas: tenant.quotas };
  }

  function changed(slug: string): void {
    forget(slug);
    notices?.tell("tenant", slug);
  }

  async function ensure(slug: string, made?: (tx: Transaction) => Promise<void>): Promise<TenantStatus> {
    const known = await status(slug);
    if (known !== null) return known;
    await sql.begin(async (tx) => {
      // Of a consumer's tenant that was purged nothing but its name is left: it begins anew.
      const { count } = await tx`
        insert into tenants (slug, kind, display_name) values (${slug}, ${tenantKind(slug)}, ${slug})
        on conflict (slug) do update set status = 'active', suspended_at = null, deleted_at = null, purge_at = null,
          purged_at = null, work_ended_at = null, created_at = now(), updated_at = now()
        where tenants.kind = 'consumer' and tenants.purged_at is not null`;
      if (count > 0) await made?.(tx);
    });
    changed(slug);
    return (await status(slug)) ?? "active";
  }

  async function claimTier(slug: string, tier: Tier | null, iat: number): Promise<void> {
    const tenant = await find(slug);
    if (tenant === null || (tenant.claimedIat !== null && tenant.claimedIat >= iat)) return;
    const { count } = await sql`
      update tenants set claimed_tier = ${tier}, claimed_iat = ${iat}
      where slug = ${slug} and (claimed_iat is null or claimed_iat < ${iat})`;
    if (count > 0) changed(slug);
    else forget(slug);
  }

  return { find, terms, status, ensure, claimTier, changed };
}

async function load(sql: Sql, slug: string): Promise<Tenant | null> {
  const [row] = await sql<Row[]>`
    select t.status, t.claimed_iat, t.purged_at is not null as is_purged, t.owner_tenant,
      t.subscription_status, t.subscription_seats, t.subscription_period_end, ${termsColumns(sql)}
    from ${tenantsWithOwners(sql)} where t.slug = ${slug}`;
  // Consumers begin anew after a purge: until then there is no such tenant.
  if (row === undefined || (row.is_purged && row.kind === "consumer")) return null;
  return {
    slug,
    kind: row.kind,
    status: row.status,
    isPurged: row.is_purged,
    ...termsOfRow(row),
    claimedIat: numberOf(row.claimed_iat),
    subscriptionTier: row.subscription_tier,
    subscription: subscriptionOf(row),
    teamTier: row.team_tier,
    ownerTenant: row.owner_tenant,
  };
}

interface Row extends TermsRow {
  readonly status: TenantStatus;
  readonly is_purged: boolean;
  readonly claimed_iat: string | null;
  readonly owner_tenant: string | null;
  readonly subscription_status: string | null;
  readonly subscription_seats: number | null;
  readonly subscription_period_end: Date | null;
}

const subscriptionOf = (row: Row): TenantSubscription | null =>
  row.subscription_status === null
    ? null
    : { status: row.subscription_status, seats: row.subscription_seats, periodEnd: row.subscription_period_end };
