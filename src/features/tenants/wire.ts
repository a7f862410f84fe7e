/** A tenant as clients read it. */
import { termsOfRow } from "../../identity/tenants/tenant-terms.ts";
import type { TenantRow } from "./records.ts";
import type { TenantBody } from "./schema.ts";

/** Names that have two spellings, and those that are never null, are what published clients ask for. */
export function tenantBody(row: TenantRow): TenantBody {
  const { standing, quotas } = termsOfRow(row);
  const realm = row.idp_realm ?? `tenant-${row.slug}`;
  const namespace = row.vault_namespace ?? `tenant-${row.slug}/`;
  const time = (at: Date | null): string | null => at?.toISOString() ?? null;
  return {
    slug: row.slug,
    display_name: row.display_name,
    kind: row.kind,
    status: row.status,
    tier: standing.tier,
    tier_source: standing.source,
    quotas: {
      max_concurrent_executions: quotas.maxConcurrentExecutions,
      max_agents: quotas.maxAgents,
      max_storage_gb: quotas.maxStorageGb,
    },
    idp_realm: realm,
    keycloak_realm: realm,
    vault_namespace: namespace,
    openbao_namespace: namespace,
    owner_email: row.owner_email,
    suspended_at: time(row.suspended_at),
    suspend_reason: row.suspend_reason,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    deleted_at: time(row.deleted_at),
    purge_at: time(row.purge_at),
  };
}
