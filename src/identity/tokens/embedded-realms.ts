/** The realms of the embedded identity provider (docs/reference/embedded-issuer.md), as the readers of its tokens know them. */
import type { JWK } from "jose";
import type { Sql } from "../../store/postgres/pool.ts";
import { type EmbeddedSettings, isTenantRealm, type RealmSettings, realmTenant } from "../settings.ts";
import { KeySet } from "./keys.ts";

export const embeddedAudience = "svc-orchestrator";

export interface EmbeddedRealms {
  /** Begins every issuer. */
  readonly issuerPrefix: string;
  /** The public keys, which all realms share. */
  readonly keys: KeySet;
  /** A realm that is served; null for all other names. */
  find(slug: string): Promise<RealmSettings | null>;
  /** Whether there is one realm for all people. */
  readonly hasConsumers: boolean;
  /** The realm of a tenant's people, as far as they are at home here. */
  isServed(tenant: string): boolean;
}

export interface EmbeddedRealmsOptions {
  readonly sql: Sql;
  readonly embedded: EmbeddedSettings;
  /** Realms of other providers: their names are theirs. */
  readonly configured: readonly RealmSettings[];
  /** Whether there is such a tenant, and it is not deleted. */
  readonly tenantExists: (slug: string) => Promise<boolean>;
  readonly ttlMs: number;
  readonly now: () => number;
}

export function createEmbeddedRealms(options: EmbeddedRealmsOptions): EmbeddedRealms {
  const { sql, embedded, configured, tenantExists, ttlMs, now } = options;
  const taken = new Set(configured.map(({ slug }) => slug));
  const issuerPrefix = `${embedded.publicUrl}/realms/`;
  const published = async (): Promise<JWK[]> => {
    const rows = await sql<{ public_jwk: JWK }[]>`
      select public_jwk from issuer_keys where public_jwk is not null order by used_from`;
    return rows.map((row) => row.public_jwk);
  };
  const isServed = (tenant: string): boolean =>
    embedded.realms === "tenants" && isTenantRealm(`tenant-${tenant}`) && !taken.has(`tenant-${tenant}`);

  async function kindOf(slug: string): Promise<RealmSettings["kind"] | null> {
    if (slug === "svc-system") return "system";
    if (slug === "svc-consumer") return embedded.realms === "consumers" ? "consumer" : null;
    if (!isTenantRealm(slug) || !isServed(realmTenant(slug))) return null;
    return (await tenantExists(realmTenant(slug))) ? "tenant" : null;
  }

  return {
    issuerPrefix,
    keys: new KeySet({ load: published, now, ttlMs }),
    hasConsumers: embedded.realms === "consumers",
    isServed,
    async find(slug) {
      const kind = await kindOf(slug);
      if (kind === null) return null;
      return {
        slug,
        kind,
        issuer_url: issuerPrefix + slug,
        audience: embeddedAudience,
        algorithms: ["RS256"],
        claims: { tier: ["svc_tier"], role: ["svc_role"], tenant: ["tenant_id"] },
        scope_mode: "union",
      };
    },
  };
}
