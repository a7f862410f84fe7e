/** Identity put together: who may call this node, and in which tenant they act. */
import type { Sql } from "../store/postgres/pool.ts";
import type { Notices } from "../store/redis/notices.ts";
import { type Authenticator, createAuthenticator, createFailureLimit } from "./authenticate.ts";
import { createKeys, type Keys } from "./callers/api-keys.ts";
import { createMembers, type Members } from "./callers/members.ts";
import { createStarters, type Starters } from "./callers/starters.ts";
import { createUsers, type Users } from "./callers/users.ts";
import {
  type AuthSettings,
  type EmbeddedSettings,
  readAuthSettings,
  type SettingsReading,
  type TokenAlgorithm,
} from "./settings.ts";
import { createTenants, type Tenants } from "./tenants/tenants.ts";
import {
  createDevelopmentIssuer,
  type DevelopmentClients,
  type DevelopmentIssuer,
  readDevelopmentClients,
} from "./tokens/development-issuer.ts";
import { createEmbeddedRealms, type EmbeddedRealms } from "./tokens/embedded-realms.ts";
import { createRealms, type IssuerProbe } from "./tokens/realms.ts";
import { createSignInRealms, type SignInRealms } from "./tokens/sign-in-realms.ts";
import { createTokenVerifier } from "./tokens/tokens.ts";

/** What identity takes from the configuration. */
export interface IdentityConfig {
  readonly mode: "development" | "production";
  /** The configuration file's sections. */
  readonly file: { readonly auth?: unknown };
  readonly authRealms: unknown;
  readonly authLeewaySeconds: number;
  readonly authMaxTokenHours: number;
  readonly authJwksCacheTtlSeconds: number;
  readonly publicUrl: string;
  readonly issuer: "embedded" | null;
  readonly issuerRealms: "tenants" | "consumers";
  /** A variable as an operator refers to it by `env:NAME`. */
  readonly environment: (name: string) => string | undefined;
  readonly devIssuerAlg: TokenAlgorithm;
  readonly devClients: unknown;
  readonly devPassword: string;
}

/** The `auth` section with the environment laid over it, and everything that is wrong with it. */
export function readIdentity({ mode, file, authRealms, ...config }: IdentityConfig): SettingsReading {
  const section = {
    ...(typeof file.auth === "object" ? file.auth : {}),
    ...(authRealms === null ? {} : { realms: authRealms }),
    leeway_seconds: config.authLeewaySeconds,
    max_token_hours: config.authMaxTokenHours,
    jwks_cache_ttl_seconds: config.authJwksCacheTtlSeconds,
  };
  const { settings, problems: found } = readAuthSettings(section, mode === "development", embeddedOf(config));
  const problems = [...found];
  for (const { secret, client_id } of settings?.service_accounts ?? []) {
    if (secret !== undefined && !config.environment(secret.slice("env:".length)))
      problems.push(`auth.service_accounts: ${secret} of ${client_id} is not set`);
  }
  if (problems.length > 0) return { settings: null, problems };
  const clients = readDevelopmentClients(config.devClients);
  if (clients !== null) return { settings, problems };
  return { settings: null, problems: [...problems, "SVC_DEV_CLIENTS must list {client_id, client_secret, role?}"] };
}

/** Null: the service is no identity provider of its own. */
const embeddedOf = (config: Pick<IdentityConfig, "issuer" | "issuerRealms" | "publicUrl">): EmbeddedSettings | null =>
  config.issuer === null ? null : { realms: config.issuerRealms, publicUrl: config.publicUrl };

export interface Identification {
  readonly authenticator: Authenticator;
  readonly tenants: Tenants;
  readonly members: Members;
  readonly keys: Keys;
  readonly users: Users;
  readonly starters: Starters;
  /** Null: the service is no identity provider of its own. */
  readonly embedded: EmbeddedRealms | null;
  readonly signInRealms: SignInRealms;
  readonly issuerProbes: readonly IssuerProbe[];
  /** Rejects while the keys of some configured realm cannot be had; null when none is configured. */
  readonly probe: (() => Promise<void>) | null;
}

/** Everything identity needs, with the development issuer in development mode. */
export async function openIdentity(
  settings: AuthSettings,
  config: IdentityConfig,
  sql: Sql,
  notices: Notices,
  now: () => number,
): Promise<Identification & { readonly issuer: DevelopmentIssuer | null }> {
  const development = config.mode === "development" && config.issuer === null;
  const clients = readDevelopmentClients(config.devClients) ?? [];
  const issuer = development
    ? await createDevelopmentIssuer({
        sql,
        publicUrl: config.publicUrl,
        algorithm: config.devIssuerAlg,
        clients,
        password: config.devPassword,
        now,
      })
    : null;
  const known = development ? withDevelopmentClients(settings, clients) : settings;
  return {
    issuer,
    ...createIdentification({
      sql,
      notices,
      settings: known,
      issuer,
      embedded: embeddedOf(config),
      limitFailures: config.mode !== "development",
      now,
    }),
  };
}

/**
 * Whose tokens a caller may bring, without the realms of tenants: their names would tell strangers who the tenants are.
 * @returns issuer URLs, those of the configuration first
 */
export function openIssuers(
  { realms }: AuthSettings,
  { embedded, issuer }: Pick<Identification, "embedded"> & { readonly issuer: DevelopmentIssuer | null },
): readonly string[] {
  const configured = realms.filter(({ kind }) => kind !== "tenant").map(({ issuer_url }) => issuer_url);
  const own = embedded ?? issuer?.realms ?? null;
  if (own === null) return configured;
  const hasConsumers = embedded === null || embedded.hasConsumers;
  const served = ["svc-system", ...(hasConsumers ? ["svc-consumer"] : [])].map((slug) => own.issuerPrefix + slug);
  return [...new Set([...configured, ...served])];
}

/** The development issuer's clients may act in every tenant, unless the configuration says otherwise. */
export function withDevelopmentClients(settings: AuthSettings, clients: DevelopmentClients): AuthSettings {
  const listed = new Set(settings.service_accounts.map(({ client_id }) => client_id));
  const added = clients
    .filter(({ client_id }) => !listed.has(client_id))
    .map(({ client_id }) => ({ client_id, tenants: ["*"], machine_only: false }));
  return { ...settings, service_accounts: [...settings.service_accounts, ...added] };
}

export interface IdentificationOptions {
  readonly sql: Sql;
  /** Of other nodes' changes; null: these are seen when what is remembered is old. */
  readonly notices: Pick<Notices, "on" | "tell"> | null;
  readonly settings: AuthSettings;
  /** Null outside development mode. */
  readonly issuer: Pick<DevelopmentIssuer, "realms"> | null;
  /** Null: the service is no identity provider of its own. */
  readonly embedded?: EmbeddedSettings | null;
  /** Whether failed authentications are limited per address. */
  readonly limitFailures: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export function createIdentification({
  sql,
  notices,
  settings,
  issuer,
  embedded: provider = null,
  limitFailures,
  now,
}: IdentificationOptions): Identification {
  const tenants = createTenants(sql, now, notices);
  const tenantExists = async (slug: string) => (await tenants.status(slug)) !== null;
  const tenantLives = async (slug: string) => ((await tenants.status(slug)) ?? "deleted") !== "deleted";
  const embedded =
    provider === null
      ? null
      : createEmbeddedRealms({
          sql,
          embedded: provider,
          configured: settings.realms,
          tenantExists: tenantLives,
          ttlMs: settings.jwks_cache_ttl_seconds * 1000,
          now,
        });
  const realms = createRealms({
    settings,
    development: issuer?.realms ?? null,
    embedded,
    tenantExists,
    now,
  });
  const users = createUsers(sql);
  const members = createMembers({ sql, defaultRole: settings.tenant_default_role, notices, now });
  const listed = new Set(settings.service_accounts.map(({ client_id }) => client_id));
  const keys = createKeys({ sql, members, isListed: (clientId) => listed.has(clientId), notices, now });
  const tokens = createTokenVerifier({
    realms,
    leewaySeconds: settings.leeway_seconds,
    maxTokenHours: settings.max_token_hours,
    tenantExists,
    members,
    saw: users.saw,
    now,
  });
  const starters = createStarters({
    sql,
    keys,
    members,
    isListed: (clientId) => listed.has(clientId),
    notices,
    now,
  });
  const failures = limitFailures ? createFailureLimit(now) : null;
  return {
    authenticator: createAuthenticator({ tokens, keys, members, tenants, settings, failures }),
    tenants,
    members,
    keys,
    users,
    starters,
    embedded,
    signInRealms: createSignInRealms({
      settings,
      development: issuer?.realms ?? null,
      embedded,
      tenantExists: tenantLives,
    }),
    issuerProbes: realms.probes,
    probe: settings.realms.length > 0 ? realms.probe : null,
  };
}
