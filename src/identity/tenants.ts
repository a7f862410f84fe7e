/** The tenants' rows: who exists and in what state. */
import { LRUCache } from "lru-cache";
import { type TenantStatus, tenantKind } from "../../actors/identity/tenant.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import type { Sql, Transaction } from "../store/postgres/pool.ts";

export interface Tenants {
  /** The state of a tenant, at most 3 s old; null when it does not exist. */
  status(slug: string): Promise<TenantStatus | null>;
  /**
   * The same, creating the tenant when it does not exist.
   * @param made called in the transaction that creates it
   */
  ensure(slug: string, made?: (tx: Transaction) => Promise<void>): Promise<TenantStatus>;
}

/** @throws Problem 403 `tenant_suspended`, `tenant_deleted`: nothing new is begun for such a tenant */
export function requireActive(status: TenantStatus): void {
  if (status === "suspended") throw new Problem("tenant_suspended", "The tenant is suspended");
  if (status === "deleted") throw new Problem("tenant_deleted", "The tenant is deleted");
}

/** State changes are promised to reach every node within 5 s. */
const freshMs = 3000;
const maxRemembered = 10_000;

export function createTenants(sql: Sql, now: () => number): Tenants {
  const remembered = new LRUCache<string, { readonly status: TenantStatus; readonly at: number }>({
    max: maxRemembered,
  });

  async function load(slug: string): Promise<TenantStatus | null> {
    const [row] = await sql<{ status: TenantStatus }[]>`select status from tenants where slug = ${slug}`;
    return row?.status ?? null;
  }
  function remember(slug: string, status: TenantStatus): TenantStatus {
    remembered.set(slug, { status, at: now() });
    return status;
  }
  async function status(slug: string): Promise<TenantStatus | null> {
    const known = remembered.get(slug);
    if (known && now() - known.at < freshMs) return known.status;
    const found = await load(slug);
    return found === null ? null : remember(slug, found);
  }
  async function ensure(slug: string, made?: (tx: Transaction) => Promise<void>): Promise<TenantStatus> {
    const known = await status(slug);
    if (known !== null) return known;
    await sql.begin(async (tx) => {
      const { count } = await tx`
        insert into tenants (slug, kind, display_name) values (${slug}, ${tenantKind(slug)}, ${slug})
        on conflict (slug) do nothing`;
      if (count > 0) await made?.(tx);
    });
    return remember(slug, (await load(slug)) ?? "active");
  }
  return { status, ensure };
}
