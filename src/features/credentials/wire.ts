/** Credentials and grants as the API shows them. */
import type { CredentialRow } from "./records.ts";
import type { Credential, Grant } from "./schema.ts";

const time = (at: Date | null): string | null => at?.toISOString() ?? null;

export function credentialBody(row: CredentialRow): Credential {
  const lastUsed = time(row.last_used_at);
  return {
    id: row.id,
    provider: row.provider,
    credential_type: row.credential_type,
    label: row.label,
    scope: row.scope,
    status: row.status,
    owner_user_id: row.user_id,
    tenant_id: row.tenant,
    metadata: row.metadata,
    scopes: [...row.oauth_scopes],
    expires_at: time(row.expires_at),
    grants_count: row.grants_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    last_used: lastUsed,
    last_used_at: lastUsed,
    version: row.version,
  };
}

export interface GrantRow {
  readonly id: string;
  readonly credential_id: string;
  readonly target_type: Grant["target"]["type"];
  readonly target_value: string;
  readonly created_by: { readonly user_id: string | null };
  readonly created_at: Date;
  readonly expires_at: Date | null;
}

export function grantBody(row: GrantRow): Grant {
  const { target_type: type, target_value: value } = row;
  return {
    id: row.id,
    grant_id: row.id,
    credential_id: row.credential_id,
    agent_id: type === "agent" ? value : null,
    workflow_name: type === "workflow" ? value : null,
    target: { type, value: type === "all_agents" ? null : value },
    permission_type: "read",
    created_by: row.created_by.user_id ?? "",
    created_at: row.created_at.toISOString(),
    expires_at: time(row.expires_at),
  };
}
