/** The SQL of tenants, as platform operators see and change them. */
import type { Fragment } from "postgres";
import type { Tier } from "../../../actors/identity/identity.ts";
import type { TenantStatus } from "../../../actors/identity/tenant.ts";
import { type TermsRow, tenantsWithOwners, termsColumns } from "../../identity/tenants/tenant-terms.ts";
import type { Sql, Transaction } from "../../store/postgres/pool.ts";
import type { TenantsQuery } from "./schema.ts";

export interface TenantRow extends TermsRow {
  readonly slug: string;
  readonly display_name: string;
  readonly status: TenantStatus;
  readonly idp_realm: string | null;
  readonly vault_namespace: string | null;
  readonly owner_email: string | null;
  readonly suspended_at: Date | null;
  readonly suspend_reason: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  readonly purge_at: Date | null;
  /** Its time is over: it is being erased, or was. */
  readonly is_purged: boolean;
}

/** What administrators say of a tenant. Null: as its kind, its tier or the slug implies. */
export interface TenantColumns {
  readonly display_name: string;
  readonly admin_tier: Tier | null;
  readonly max_concurrent_executions: number | null;
  readonly max_agents: number | null;
  readonly max_storage_gb: number | null;
  readonly owner_email: string | null;
  readonly idp_realm: string | null;
  readonly vault_namespace: string | null;
}

const columns = (sql: Sql | Transaction): Fragment => sql`
  t.slug, t.display_name, t.status, t.idp_realm, t.vault_namespace, t.owner_email, t.suspended_at, t.suspend_reason,
  t.created_at, t.updated_at, t.deleted_at, t.purge_at,
  t.purged_at is not null or (t.status = 'deleted' and t.purge_at <= now()) as is_purged, ${termsColumns(sql)}`;

const from = (sql: Sql | Transaction): Fragment => sql`from ${tenantsWithOwners(sql)}`;

export async function tenantRow(sql: Sql | Transaction, slug: string): Promise<TenantRow | null> {
  const [row] = await sql<TenantRow[]>`select ${columns(sql)} ${from(sql)} where t.slug = ${slug}`;
  return row ?? null;
}

/** The same, and no other change of it comes between until the transaction ends. */
export async function lockedTenant(tx: Transaction, slug: string): Promise<TenantRow | null> {
  const [row] = await tx<TenantRow[]>`select ${columns(tx)} ${from(tx)} where t.slug = ${slug} for update of t`;
  return row ?? null;
}

/** @returns false where the slug was taken once, deleted and purged tenants included */
export async function insertTenant(tx: Transaction, slug: string, made: TenantColumns): Promise<boolean> {
  const { count } = await tx`
    insert into tenants (slug, kind, display_name, admin_tier, max_concurrent_executions, max_agents, max_storage_gb,
      owner_email, idp_realm, vault_namespace)
    values (${slug}, 'enterprise', ${made.display_name}, ${made.admin_tier}, ${made.max_concurrent_executions},
      ${made.max_agents}, ${made.max_storage_gb}, ${made.owner_email}, ${made.idp_realm}, ${made.vault_namespace})
    on conflict (slug) do nothing`;
  return count > 0;
}

/** Whether a folder of the vault is another tenant's, holds it or lies in it. Tenants that are made at once take turns. */
export async function isFolderTaken(tx: Transaction, slug: string, folder: string): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(hashtextextended('vault folders', 0))`;
  const own = `${folder}/`;
  const rows = await tx`
    select from (
      select btrim(regexp_replace(vault_namespace, '/+', '/', 'g'), '/') || '/' as folder from tenants
      where vault_namespace is not null and slug <> ${slug}) as other
    where starts_with(folder, ${own}) or starts_with(${own}, folder) limit 1`;
  return rows.length > 0;
}

export async function changeTenant(tx: Transaction, slug: string, changed: TenantColumns): Promise<void> {
  await tx`
    update tenants set display_name = ${changed.display_name}, admin_tier = ${changed.admin_tier},
      max_concurrent_executions = ${changed.max_concurrent_executions}, max_agents = ${changed.max_agents},
      max_storage_gb = ${changed.max_storage_gb}, owner_email = ${changed.owner_email},
      idp_realm = ${changed.idp_realm}, vault_namespace = ${changed.vault_namespace}, updated_at = now()
    where slug = ${slug}`;
}

export async function suspendTenant(tx: Transaction, slug: string, reason: string | null): Promise<void> {
  await tx`
    update tenants set status = 'suspended', suspended_at = now(), suspend_reason = ${reason}, updated_at = now()
    where slug = ${slug}`;
}

/** After a suspension, or a deletion whose time is not over. */
export async function activateTenant(tx: Transaction, slug: string): Promise<void> {
  await tx`
    update tenants set status = 'active', suspended_at = null, suspend_reason = null, deleted_at = null,
      purge_at = null, work_ended_at = null, updated_at = now()
    where slug = ${slug}`;
}

/** @param days until it is erased */
export async function deleteTenant(tx: Transaction, slug: string, days: number): Promise<void> {
  await tx`
    update tenants set status = 'deleted', deleted_at = now(), purge_at = now() + ${`${days} days`}::text::interval,
      work_ended_at = null, updated_at = now()
    where slug = ${slug}`;
}

type Filter = Omit<TenantsQuery, "limit" | "cursor">;

/**
 * Tenants by slug. A tier is no column: rows that cannot have it are left out here, and the rest is for the caller.
 * @param after the last slug already seen; empty: from the start
 */
export function listTenants(sql: Sql, filter: Filter, after: string, limit: number): Promise<TenantRow[]> {
  const { status, kind, q, tier } = filter;
  const ofStatus = status === undefined ? sql`t.status <> 'deleted'` : sql`t.status = ${status}`;
  const ofKind = kind === undefined ? sql`` : sql`and t.kind = ${kind}`;
  const text = q?.toLowerCase() ?? "";
  const named =
    text === "" ? sql`` : sql`and (strpos(t.slug, ${text}) > 0 or strpos(lower(t.display_name), ${text}) > 0)`;
  return sql<TenantRow[]>`
    select ${columns(sql)} ${from(sql)}
    where ${ofStatus} and t.slug > ${after} ${ofKind} ${named} ${tier === undefined ? sql`` : mayHave(sql, tier)}
    order by t.slug limit ${limit}`;
}

function mayHave(sql: Sql, tier: NonNullable<Filter["tier"]>): Fragment {
  if (tier === "system") return sql`and t.kind = 'system'`;
  // What is left when nothing says otherwise.
  if (tier === "free") return sql``;
  const said = sql`${tier} in (t.admin_tier, t.subscription_tier, t.claimed_tier, t.team_tier,
    o.admin_tier, o.subscription_tier, o.claimed_tier)`;
  return tier === "enterprise" ? sql`and (t.kind = 'enterprise' or ${said})` : sql`and ${said}`;
}
