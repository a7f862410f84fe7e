/** The realms whose tokens are trusted, found by issuer. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ClaimRules } from "../../../actors/identity/claims.ts";
import { isEnterpriseSlug } from "../../../actors/identity/tenant.ts";
import {
  type AuthSettings,
  instantiate,
  isTenantRealm,
  jwksUri,
  type RealmSettings,
  type TokenAlgorithm,
} from "../settings.ts";
import type { EmbeddedRealms } from "./embedded-realms.ts";
import { fetchJwks, KeySet } from "./keys.ts";

export interface Realm {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly algorithms: readonly TokenAlgorithm[];
  readonly keys: KeySet;
  readonly rules: ClaimRules;
}

export interface Realms {
  /** The realm that claims this issuer, or null. */
  byIssuer(issuer: string): Promise<Realm | null>;
  /** Rejects while the keys of some configured realm cannot be had. */
  probe(): Promise<void>;
  /** The configured realms, each with a way to ask for its keys anew. */
  readonly probes: readonly IssuerProbe[];
}

/** A configured issuer that may be asked whether it is there. */
export interface IssuerProbe {
  readonly slug: string;
  readonly issuer: string;
  /** How many keys it publishes. Rejects where they cannot be had within `totalMs`. */
  keys(totalMs: number): Promise<number>;
}

export interface DevelopmentRealms {
  /** `{SVC_PUBLIC_URL}/realms/` */
  readonly issuerPrefix: string;
  readonly audience: string;
  readonly keys: KeySet;
}

export interface RealmsOptions {
  readonly settings: AuthSettings;
  /** Null outside development mode. */
  readonly development: DevelopmentRealms | null;
  /** Null: the service is no identity provider of its own. */
  readonly embedded?: EmbeddedRealms | null;
  /** Whether a tenant was created; its template realm counts only then. */
  readonly tenantExists: (slug: string) => Promise<boolean>;
  readonly now: () => number;
}

/** Template realms kept at once; each holds a few keys. */
const maxTemplateRealms = 1000;

export function createRealms({ settings, development, embedded = null, tenantExists, now }: RealmsOptions): Realms {
  const machineClients = new Set(
    settings.service_accounts.filter((account) => account.machine_only).map((account) => account.client_id),
  );
  const listedClients = new Set(settings.service_accounts.map((account) => account.client_id));
  const ttlMs = settings.jwks_cache_ttl_seconds * 1000;
  const open = (realm: RealmSettings, keys?: KeySet): Realm => ({
    issuer: realm.issuer_url,
    audience: typeof realm.audience === "string" ? [realm.audience] : realm.audience,
    algorithms: realm.algorithms,
    keys: keys ?? new KeySet({ load: () => fetchJwks(jwksUri(realm)), now, ttlMs }),
    rules: {
      realm: realm.slug,
      kind: realm.kind,
      claims: realm.claims,
      scopeMode: realm.scope_mode,
      machineClients,
      listedClients,
      defaultMembership: settings.tenant_default_role,
      sha256Hex: (text) => createHash("sha256").update(text).digest("hex"),
    },
  });
  const configured = new Map(settings.realms.map((realm) => [realm.issuer_url, open(realm)]));
  const fromTemplate = new LRUCache<string, Realm>({ max: maxTemplateRealms });
  const template = settings.tenant_realm_template;
  // A realm has one issuer: who is known by realm and subject must not be met by another provider's subject.
  const taken = new Set(settings.realms.map(({ slug }) => slug));

  return {
    async probe() {
      await Promise.all([...configured.values()].map((realm) => realm.keys.available()));
    },
    probes: settings.realms.map((realm) => ({
      slug: realm.slug,
      issuer: realm.issuer_url,
      keys: async (totalMs) => (await fetchJwks(jwksUri(realm), { headMs: totalMs, totalMs })).length,
    })),
    async byIssuer(issuer) {
      const known = configured.get(issuer) ?? fromTemplate.get(issuer);
      if (known) return known;
      if (development?.issuerPrefix && issuer.startsWith(development.issuerPrefix)) {
        const realm = developmentRealm(issuer.slice(development.issuerPrefix.length), development);
        return realm && open(realm, development.keys);
      }
      if (embedded !== null && issuer.startsWith(embedded.issuerPrefix)) {
        const realm = await embedded.find(issuer.slice(embedded.issuerPrefix.length));
        return realm && open(realm, embedded.keys);
      }
      const tenant = template ? tenantOfIssuer(template.issuer_url, issuer) : null;
      if (!template || tenant === null || taken.has(`tenant-${tenant}`) || !(await tenantExists(tenant))) return null;
      const realm = open(instantiate(template, tenant));
      fromTemplate.set(issuer, realm);
      return realm;
    },
  };
}

/** What the development issuer calls a realm, as settings; null for a name it does not know. */
export function developmentRealm(
  slug: string,
  { issuerPrefix, audience }: Pick<DevelopmentRealms, "issuerPrefix" | "audience">,
): RealmSettings | null {
  const kind = developmentRealmKind(slug);
  if (kind === null) return null;
  return {
    slug,
    kind,
    issuer_url: issuerPrefix + slug,
    audience,
    algorithms: ["RS256", "ES256", "EdDSA"],
    claims: { tier: ["svc_tier", "zaru_tier"], role: ["svc_role", "aegis_role"], tenant: ["tenant_id"] },
    scope_mode: "union",
  };
}

function developmentRealmKind(slug: string): RealmSettings["kind"] | null {
  if (slug === "svc-system") return "system";
  if (slug === "svc-consumer") return "consumer";
  return isTenantRealm(slug) ? "tenant" : null;
}

/** The slug that turns the template into this issuer. */
function tenantOfIssuer(template: string, issuer: string): string | null {
  const [before = "", after = ""] = template.split("{slug}", 2);
  if (!issuer.startsWith(before)) return null;
  const rest = issuer.slice(before.length);
  const end = after === "" ? rest.length : rest.search(/[^a-z0-9-]/);
  const slug = rest.slice(0, end < 0 ? rest.length : end);
  const fits = isEnterpriseSlug(slug) && template.replaceAll("{slug}", slug) === issuer;
  return fits ? slug : null;
}
