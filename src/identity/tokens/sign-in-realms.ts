/** Where the people of a tenant sign in: one realm for each tenant, and one for those who name none. */
import { isEnterpriseSlug, tenantKind } from "../../../actors/identity/tenant.ts";
import { type AuthSettings, instantiate, type RealmSettings } from "../settings.ts";
import type { EmbeddedRealms } from "./embedded-realms.ts";
import { type DevelopmentRealms, developmentRealm } from "./realms.ts";

export interface SignInRealm {
  readonly slug: string;
  readonly kind: RealmSettings["kind"];
  /** As tokens name it. */
  readonly issuer: string;
  /** Who serves it: the development issuer, the embedded provider, or a provider elsewhere. */
  readonly by: "development" | "embedded" | "other";
}

export interface SignInRealms {
  /**
   * The realm of a tenant's people; of `svc-system` that of operators. A name that is no tenant's, and null, get the realm
   * of consumers; where there is none, the first that there is. Null: the node accepts no tokens of people at all.
   */
  of(tenant: string | null): Promise<SignInRealm | null>;
  /** Issuers that a sign-in may lead to, but those of the tenants' template and of the service itself. */
  readonly issuers: readonly string[];
}

export interface SignInRealmsOptions {
  readonly settings: AuthSettings;
  /** Null outside development mode. */
  readonly development: Pick<DevelopmentRealms, "issuerPrefix" | "audience"> | null;
  /** Null: the service is no identity provider of its own. */
  readonly embedded: Pick<EmbeddedRealms, "find"> | null;
  /** Whether there is such a tenant, and it is not deleted. */
  readonly tenantExists: (slug: string) => Promise<boolean>;
}

export function createSignInRealms(options: SignInRealmsOptions): SignInRealms {
  const { settings, development, embedded, tenantExists } = options;
  const { realms, tenant_realm_template: template } = settings;

  const elsewhere = ({ slug, kind, issuer_url }: RealmSettings): SignInRealm => ({
    slug,
    kind,
    issuer: issuer_url,
    by: "other",
  });
  async function ownRealm(slug: string): Promise<SignInRealm | null> {
    const by = embedded === null ? "development" : "embedded";
    const found = embedded === null ? development && developmentRealm(slug, development) : await embedded.find(slug);
    return found && { ...elsewhere(found), by };
  }
  async function ofKind(kind: "system" | "consumer"): Promise<SignInRealm | null> {
    const configured = realms.find((realm) => realm.kind === kind);
    return configured === undefined ? ownRealm(`svc-${kind}`) : elsewhere(configured);
  }
  async function ofTenant(tenant: string): Promise<SignInRealm | null> {
    const configured = realms.find(({ slug }) => slug === `tenant-${tenant}`);
    if (configured !== undefined) return elsewhere(configured);
    if (!isEnterpriseSlug(tenant) || !(await tenantExists(tenant))) return null;
    return template === undefined ? ownRealm(`tenant-${tenant}`) : elsewhere(instantiate(template, tenant));
  }
  async function ofNone(): Promise<SignInRealm | null> {
    const consumers = await ofKind("consumer");
    if (consumers !== null) return consumers;
    const [first] = realms;
    return first === undefined ? ownRealm("svc-system") : elsewhere(first);
  }

  return {
    issuers: realms.map(({ issuer_url }) => issuer_url),
    async of(tenant) {
      if (tenant === null) return ofNone();
      const kind = tenantKind(tenant);
      const found = kind === "system" ? await ofKind("system") : kind === "enterprise" ? await ofTenant(tenant) : null;
      return found ?? ofNone();
    },
  };
}
