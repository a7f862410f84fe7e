/** Who calls, and in which tenant: steps of every request before its route's scope is looked at. */
import { LRUCache } from "lru-cache";
import type { Identity } from "../../actors/identity/identity.ts";
import { asMember } from "../../actors/identity/scopes.ts";
import { chooseTenant, isEnterpriseSlug, type TenantChoice, tenantKind } from "../../actors/identity/tenant.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import { isDatabaseUnavailable, type Transaction } from "../store/postgres/pool.ts";
import type { Keys } from "./callers/api-keys.ts";
import type { Members } from "./callers/members.ts";
import type { AuthSettings } from "./settings.ts";
import { requireOpen } from "./tenants/teams.ts";
import type { Tenants } from "./tenants/tenants.ts";
import { bearerToken, isApiKey } from "./tokens/bearer.ts";
import type { TokenVerifier } from "./tokens/tokens.ts";

export interface Authenticator {
  /**
   * @param queryToken whether `?token=` may stand in for the header
   * @param address    of the client, for the limit on failures; null = unknown
   * @throws Problem 401, 429, 503
   */
  identify(request: Request, queryToken: boolean, address: string | null): Promise<Identity>;
  /**
   * The effective tenant: the request may act in it.
   * @throws Problem 400, 402, 403, 404
   */
  resolveTenant(
    identity: Identity,
    request: Pick<Request, "headers" | "method">,
    bounds: TenantBounds,
  ): Promise<ResolvedTenant>;
}

/** In which tenants a request may act that others may not. */
export interface TenantBounds {
  /** Also while it is suspended, or the plan of a team's owner has no teams. */
  readonly whileSuspended: boolean;
  /** Also while the database is away, which alone knows how it stands. */
  readonly whileDatabaseAway: boolean;
}

export interface ResolvedTenant {
  readonly slug: string;
  /** The caller as they are in this tenant: in a team they have the role and the scopes of their membership there. */
  readonly identity: Identity;
  /** Another tenant than their own, which an administrator entered. */
  readonly isEntered: boolean;
  /**
   * Brings it into being; null where that is not called for. Called once the request may do what it asks for.
   * @param made called in the transaction that does it
   */
  readonly create: ((made: (tx: Transaction) => Promise<void>) => Promise<unknown>) | null;
}

export interface AuthenticatorOptions {
  readonly tokens: TokenVerifier;
  readonly keys: Pick<Keys, "identify">;
  readonly members: Pick<Members, "find">;
  readonly tenants: Tenants;
  readonly settings: Pick<AuthSettings, "service_accounts" | "delegation">;
  /** Null in development mode. */
  readonly failures: FailureLimit | null;
}

export function createAuthenticator({
  tokens,
  keys,
  members,
  tenants,
  settings,
  failures,
}: AuthenticatorOptions): Authenticator {
  // A client that is not listed acts in its home tenant alone.
  const allowed = new Map(settings.service_accounts.map((account) => [account.client_id, account.tenants]));
  const mayDelegate = (clientId: string | null, slug: string): boolean => {
    const list = (clientId === null ? undefined : allowed.get(clientId)) ?? [];
    return list.includes("*") || list.includes(slug);
  };

  function credentialIdentity(request: Request, queryToken: boolean): Promise<Identity> {
    const token = bearerToken(request.headers, request.url, queryToken);
    return isApiKey(token) ? keys.identify(token) : tokens.verify(token);
  }

  /**
   * What a tenant that does not exist means: home tenants come into being at their first request, delegated ones at
   * their first write; until then a delegated read finds them empty. Callers who may only read make none.
   * @throws Problem 404 `tenant_not_found`
   */
  function missing({ slug, by }: TenantChoice, identity: Identity, isRead: boolean): ResolvedTenant {
    const known = { slug, identity, isEntered: false };
    const { role } = identity;
    const mayCreate = by === "delegated" && settings.delegation.autoprovision && mayComeIntoBeing(slug);
    const create = (made: (tx: Transaction) => Promise<void>) => tenants.ensure(slug, made);
    const createHome = async (made: (tx: Transaction) => Promise<void>) => {
      await create(made);
      await noteTier(identity);
    };
    if (by === "home") return { ...known, create: createHome };
    if (mayCreate && isRead) return { ...known, create: null };
    if (mayCreate && role !== "readonly") return { ...known, create };
    throw new Problem("tenant_not_found", "Tenant not found");
  }

  /** @throws Problem 403 `not_a_team_member`, also for a team that does not exist */
  async function inTeam(slug: string, identity: Identity): Promise<Identity> {
    const role = await members.find(slug, identity);
    if (role === null) throw new Problem("not_a_team_member", "The caller is no member of that team");
    return role === identity.membership && slug === identity.homeTenant ? identity : asMember(identity, role);
  }

  /** The newest token of a consumer says what tier the consumer's own tenant has, where nothing stronger does. */
  async function noteTier({ kind, homeTenant, tier, issuedAt }: Identity): Promise<void> {
    if (kind === "consumer" && issuedAt !== null && tenantKind(homeTenant) === "consumer")
      await tenants.claimTier(homeTenant, tier, issuedAt);
  }

  return {
    async identify(request, queryToken, address) {
      try {
        return await credentialIdentity(request, queryToken);
      } catch (error) {
        if (error instanceof Problem && error.status === 401 && address !== null) failures?.count(address);
        throw error;
      }
    },
    async resolveTenant(identity, { headers, method }, { whileSuspended, whileDatabaseAway }) {
      const choice = chooseTenant(
        identity,
        {
          delegated: headers.get("x-tenant-id"),
          switched: headers.get("x-svc-tenant"),
          team: headers.get("x-svc-team"),
        },
        mayDelegate,
      );
      const { slug, by } = choice;
      const acting = by === "team" ? await inTeam(slug, identity) : identity;
      const isRead = method === "GET" || method === "HEAD";
      const tenant = await tenants.find(slug).catch((error: unknown) => {
        if (whileDatabaseAway && isDatabaseUnavailable(error)) return "away" as const;
        throw error;
      });
      if (tenant === "away") return { slug, identity: acting, isEntered: false, create: null };
      if (tenant === null) return missing(choice, identity, isRead);
      if (!(by === "switched" && isRead && !tenant.isPurged)) requireOpen(tenant, whileSuspended);
      if (by === "home") await noteTier(identity);
      return { slug, identity: acting, isEntered: by === "switched" && slug !== identity.homeTenant, create: null };
    },
  };
}

/** By delegation: teams are made by their owners alone, and other names that begin like theirs are reserved. */
const mayComeIntoBeing = (slug: string): boolean => tenantKind(slug) === "consumer" || isEnterpriseSlug(slug);

/** Failed authentications of each client address, as one node counts them. */
export interface FailureLimit {
  /**
   * Counts one failure.
   * @throws Problem 429 `rate_limited` when the address has had its failures of the minute
   */
  count(address: string): void;
}

const windowMs = 60_000;
const maxAddresses = 50_000;

/** @param perMinute failures of one address that are answered 401; further ones are answered 429 */
export function createFailureLimit(now: () => number, perMinute = 300): FailureLimit {
  const windows = new LRUCache<string, { readonly since: number; failures: number }>({ max: maxAddresses });
  return {
    count(address) {
      const at = now();
      const current = windows.get(address);
      const window = current && at - current.since < windowMs ? current : { since: at, failures: 0 };
      window.failures++;
      if (window !== current) windows.set(address, window);
      if (window.failures <= perMinute) return;
      const wait = Math.max(1, Math.ceil((window.since + windowMs - at) / 1000));
      throw new Problem("rate_limited", "Too many failed authentications", {}, { "Retry-After": String(wait) });
    },
  };
}
