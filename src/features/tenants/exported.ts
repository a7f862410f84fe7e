/** What an export of a tenant has of the feature's tables. */
import type { ExportedTables } from "../feature.ts";

export const exported: ExportedTables = {
  tenant_members: {
    columns: "id realm user_id role status created_at revoked_at",
  },
  idempotency_keys: "answers of a day",
  users: {
    columns: "realm user_id kind client_id email name first_seen_at last_seen_at",
    withheld: {
      "role member_role token_iat": "what the newest token said",
    },
    rows: "(realm, user_id) in (select realm, user_id from tenant_members where tenant = $1)",
  },
  tenants: {
    columns: [
      "slug kind status display_name created_at updated_at admin_tier subscription_tier team_tier",
      "owner_tenant max_concurrent_executions max_agents max_storage_gb owner_email idp_realm suspended_at",
      "suspend_reason deleted_at purge_at",
    ].join(" "),
    withheld: {
      "claimed_tier claimed_iat subscription_seats subscription_period_end subscription_status":
        "what tokens and the payment provider said last",
      vault_namespace: "where its secrets lie",
      "purged_at work_ended_at": "how far its end is",
    },
    rows: "slug = $1",
  },
  tenant_purges: "the end of the tenant",
};
