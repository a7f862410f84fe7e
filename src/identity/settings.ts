/** The `auth` section of the configuration: which realms are trusted, and how their tokens are read. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isEnterpriseSlug, tenantKind } from "../../actors/identity/tenant.ts";
import { shapeIssues } from "../../actors/kernel/shape-issues.ts";
import { anyText, choice, integer, json, optionalChoice, text } from "../config/setting.ts";

const ClaimPaths = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 });

export const tokenAlgorithms = ["RS256", "ES256", "EdDSA"] as const;
export type TokenAlgorithm = (typeof tokenAlgorithms)[number];
const Algorithms = Type.Array(Type.Union(tokenAlgorithms.map((name) => Type.Literal(name))), {
  minItems: 1,
  default: [...tokenAlgorithms],
});

const RealmSettings = Type.Object({
  slug: Type.String({ minLength: 1 }),
  kind: Type.Union([Type.Literal("system"), Type.Literal("consumer"), Type.Literal("tenant")]),
  /** Compared to the token's `iss` byte for byte. */
  issuer_url: Type.String({ minLength: 1 }),
  /** Default `{issuer_url}/protocol/openid-connect/certs`. */
  jwks_uri: Type.Optional(Type.String({ minLength: 1 })),
  audience: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })]),
  algorithms: Algorithms,
  claims: Type.Object(
    {
      tier: Type.Intersect([ClaimPaths], { default: ["svc_tier", "zaru_tier"] }),
      role: Type.Intersect([ClaimPaths], { default: ["svc_role", "aegis_role"] }),
      tenant: Type.Intersect([ClaimPaths], { default: ["tenant_id"] }),
    },
    { default: {} },
  ),
  scope_mode: Type.Union([Type.Literal("union"), Type.Literal("restrict")], { default: "union" }),
});
export type RealmSettings = Static<typeof RealmSettings>;

export const AuthSettings = Type.Object({
  realms: Type.Array(RealmSettings, { default: [] }),
  /** Serves tenants created at run time; `{slug}` stands in `slug`, `issuer_url` and `jwks_uri`. */
  tenant_realm_template: Type.Optional(RealmSettings),
  leeway_seconds: Type.Integer({ minimum: 0, maximum: 120, default: 30 }),
  /** An access token that is meant to count for longer is none. */
  max_token_hours: Type.Integer({ minimum: 1, maximum: 168, default: 24 }),
  jwks_cache_ttl_seconds: Type.Integer({ minimum: 1, maximum: 86400, default: 300 }),
  service_accounts: Type.Array(
    Type.Object({
      client_id: Type.String({ minLength: 1 }),
      /** Tenants the client may act in; `*` = any. */
      tenants: Type.Array(Type.String(), { default: ["*"] }),
      /** The client is a machine even when its tokens look like a person's. */
      machine_only: Type.Boolean({ default: false }),
      /** `env:NAME`: what the embedded identity provider knows the client by. */
      secret: Type.Optional(Type.String({ pattern: "^env:[A-Za-z_][A-Za-z0-9_]*$" })),
      /** Of the client's tokens by the embedded identity provider. */
      role: Type.Optional(Type.Union([Type.Literal("readonly"), Type.Literal("operator"), Type.Literal("admin")])),
    }),
    { default: [] },
  ),
  /** Of tenant users whose tokens claim no role; the first of a tenant is its owner. */
  tenant_default_role: Type.Union([Type.Literal("admin"), Type.Literal("member")], { default: "admin" }),
  delegation: Type.Object({ autoprovision: Type.Boolean({ default: true }) }, { default: {} }),
});
export type AuthSettings = Static<typeof AuthSettings>;

export const identitySettings = {
  issuer: optionalChoice("SVC_ISSUER", {
    meaning: "embedded: the service is its own identity provider, for installations without another one",
    of: ["embedded"],
    defaultText: "none; in development the development issuer",
  }),
  issuerRealms: choice("SVC_ISSUER_REALMS", {
    meaning:
      "whose people the embedded provider has beside operators: a realm for each enterprise tenant, or one for all",
    of: ["tenants", "consumers"],
    default: "tenants",
  }),
  authRealms: json("SVC_AUTH_REALMS", {
    meaning: "realms whose tokens are accepted; replaces auth.realms of the file; one is required in production",
    shape: "array",
  }),
  authLeewaySeconds: integer("SVC_AUTH_LEEWAY_SECONDS", {
    meaning: "tolerated clock difference in tokens; auth.leeway_seconds in the file",
    unit: "s",
    min: 0,
    max: 120,
    default: 30,
    filePath: ["auth", "leeway_seconds"],
  }),
  authMaxTokenHours: integer("SVC_AUTH_MAX_TOKEN_HOURS", {
    meaning: "longest lifetime of an access token; auth.max_token_hours in the file",
    unit: "h",
    min: 1,
    max: 168,
    default: 24,
    filePath: ["auth", "max_token_hours"],
  }),
  authJwksCacheTtlSeconds: integer("SVC_AUTH_JWKS_CACHE_TTL_SECONDS", {
    meaning: "how long a realm's keys count as fresh; auth.jwks_cache_ttl_seconds in the file",
    unit: "s",
    min: 1,
    max: 86_400,
    default: 300,
    filePath: ["auth", "jwks_cache_ttl_seconds"],
  }),
  devIssuerAlg: choice("SVC_DEV_ISSUER_ALG", {
    meaning: "signature of the development issuer's tokens",
    of: ["RS256", "ES256", "EdDSA"],
    default: "RS256",
  }),
  devClients: json("SVC_DEV_CLIENTS", {
    meaning: "clients of the development issuer",
    shape: "array",
    defaultText: "svc-dev and svc-service",
  }),
  devPassword: text("SVC_DEV_PASSWORD", {
    meaning: "password of every person at the development issuer",
    ...anyText,
    default: "dev",
  }),
};

/** What the settings above contradict: no realm would be accepted. */
export function identityContradictions(
  { authRealms, issuer }: { readonly authRealms?: unknown; readonly issuer?: "embedded" | null },
  { production, file }: { readonly production: boolean; readonly file: { readonly auth?: Record<string, unknown> } },
): readonly string[] {
  const realms = authRealms ?? file.auth?.realms;
  if (!production || authRealms === undefined || issuer !== null || (Array.isArray(realms) && realms.length > 0))
    return [];
  return [
    "SVC_AUTH_REALMS (or auth.realms in SVC_CONFIG_FILE) must name at least one realm in production, or SVC_ISSUER be embedded",
  ];
}

export interface SettingsReading {
  /** Null when there are problems. */
  readonly settings: AuthSettings | null;
  /** For people, each naming its field; empty when all is well. */
  readonly problems: readonly string[];
}

/** The embedded identity provider, as far as identity has to know it. */
export interface EmbeddedSettings {
  readonly realms: "tenants" | "consumers";
  /** `SVC_PUBLIC_URL`, without a trailing slash. */
  readonly publicUrl: string;
}

/**
 * Reads the `auth` section, from a file or from `SVC_AUTH_…`.
 * @param development allows plain http to any host, and a start without realms
 * @param embedded    null: the service is no identity provider of its own
 */
export function readAuthSettings(
  raw: unknown,
  development: boolean,
  embedded: EmbeddedSettings | null = null,
): SettingsReading {
  const filled = Value.Default(AuthSettings, structuredClone(raw ?? {}));
  const shape = shapeIssues(Value.Errors(AuthSettings, filled), 50).map(({ path, message }) =>
    path === "" ? `auth ${message}` : `auth.${path}: ${message}`,
  );
  if (shape.length > 0) return { settings: null, problems: shape };
  const settings = filled as AuthSettings;
  const problems = settings.realms.flatMap((realm, index) => realmProblems(realm, `auth.realms.${index}`, development));
  const template = settings.tenant_realm_template;
  if (template) problems.push(...templateProblems(template, development));
  for (const kind of ["system", "consumer"]) {
    if (settings.realms.filter((realm) => realm.kind === kind).length > 1)
      problems.push(`auth.realms: more than one ${kind} realm`);
  }
  for (const field of ["slug", "issuer_url"] as const) {
    const seen = settings.realms.map((realm) => realm[field]);
    if (new Set(seen).size < seen.length) problems.push(`auth.realms: two realms share one ${field}`);
  }
  if (settings.realms.length === 0 && !development && embedded === null)
    problems.push("auth.realms: no realm is configured (SVC_AUTH_REALMS)");
  problems.push(...(embedded === null ? withoutEmbedded(settings) : besideEmbedded(settings, embedded)));
  return { settings: problems.length === 0 ? settings : null, problems };
}

/** Where a realm publishes its keys. */
export const jwksUri = (realm: RealmSettings): string =>
  realm.jwks_uri ?? `${realm.issuer_url}/protocol/openid-connect/certs`;

/** The tenant a tenant realm is for. */
export const realmTenant = (slug: string): string => slug.slice("tenant-".length);

/** Whether a slug can name the realm of a tenant's own users. */
export function isTenantRealm(slug: string): boolean {
  return slug.startsWith("tenant-") && isEnterpriseSlug(realmTenant(slug));
}

function realmProblems(realm: RealmSettings, at: string, development: boolean): string[] {
  const problems: string[] = [];
  if (realm.kind === "tenant" && !isTenantRealm(realm.slug)) {
    problems.push(`${at}.slug: a tenant realm is called tenant-<tenant slug>, and never names svc-system, u-… or t-…`);
  }
  if (!URL.canParse(realm.issuer_url)) problems.push(`${at}.issuer_url: not a URL`);
  const uri = URL.canParse(jwksUri(realm)) ? new URL(jwksUri(realm)) : null;
  if (!uri || !/^https?:$/.test(uri.protocol)) problems.push(`${at}.jwks_uri: not an http(s) URL`);
  else if (uri.protocol !== "https:" && !development && !isLoopback(uri.hostname)) {
    problems.push(`${at}.jwks_uri: must be https`);
  }
  return problems;
}

/** Settings that only the embedded provider reads. */
const withoutEmbedded = ({ service_accounts }: AuthSettings): string[] =>
  service_accounts.flatMap(({ secret, role }, index) =>
    secret === undefined && role === undefined
      ? []
      : [`auth.service_accounts.${index}: secret and role are of the embedded provider (SVC_ISSUER=embedded)`],
  );

/** What may not stand beside the embedded provider: another issuer for the people that it has. */
function besideEmbedded(settings: AuthSettings, { realms, publicUrl }: EmbeddedSettings): string[] {
  const problems: string[] = [];
  const kinds = realms === "consumers" ? ["system", "consumer"] : ["system"];
  for (const kind of kinds) {
    if (settings.realms.some((realm) => realm.kind === kind))
      problems.push(`auth.realms: a ${kind} realm beside the one of the embedded provider (SVC_ISSUER)`);
  }
  if (settings.realms.some(({ slug }) => slug === "svc-system" || (realms === "consumers" && slug === "svc-consumer")))
    problems.push("auth.realms: a slug of the embedded provider's realms (SVC_ISSUER)");
  if (realms === "tenants" && settings.tenant_realm_template !== undefined)
    problems.push("auth.tenant_realm_template: the embedded provider has the tenants' realms (SVC_ISSUER_REALMS)");
  if (settings.realms.some(({ issuer_url }) => issuer_url.startsWith(`${publicUrl}/realms/`)))
    problems.push("auth.realms: an issuer of the embedded provider (SVC_ISSUER)");
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol !== "https:" && !isLoopback(hostname))
    problems.push("SVC_PUBLIC_URL must be https, or of this machine, for SVC_ISSUER=embedded");
  settings.service_accounts.forEach(({ secret, role }, index) => {
    if (role !== undefined && secret === undefined)
      problems.push(`auth.service_accounts.${index}.role: of a client with a secret`);
  });
  return problems;
}

function templateProblems(template: RealmSettings, development: boolean): string[] {
  const at = "auth.tenant_realm_template";
  if (!template.issuer_url.includes("{slug}")) return [`${at}.issuer_url: lacks {slug}`];
  if (template.kind !== "tenant") return [`${at}.kind: must be tenant`];
  return realmProblems(instantiate(template, "example"), at, development);
}

/** The template as one tenant's realm. */
export function instantiate(template: RealmSettings, tenant: string): RealmSettings {
  const fill = (text: string) => text.replaceAll("{slug}", tenant);
  const realm = { ...template, slug: `tenant-${tenant}`, issuer_url: fill(template.issuer_url) };
  return template.jwks_uri ? { ...realm, jwks_uri: fill(template.jwks_uri) } : realm;
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "[::1]" || /^127\./.test(host);

/** The realm that a tenant's own people come from; for null, that of consumers. Where none is configured, as svc's own issuers name it. */
export function realmOf({ realms }: Pick<AuthSettings, "realms">, tenant: string | null): string {
  const of = (kind: RealmSettings["kind"]) => realms.find((realm) => realm.kind === kind)?.slug ?? `svc-${kind}`;
  const kind = tenant === null ? "consumer" : tenantKind(tenant);
  if (kind === "enterprise") return `tenant-${tenant}`;
  return of(kind === "system" ? "system" : "consumer");
}
