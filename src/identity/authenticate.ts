/**
 * Steps 3 and 4 of every request: who calls, and in which tenant.
 *
 * API keys join at `credentialIdentity`; until they exist, whatever looks like one is unknown.
 */
import type { Identity } from "../../actors/identity/identity.ts";
import { chooseTenant, type TenantChoice, tenantKind } from "../../actors/identity/tenant.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import { bearerToken, isApiKey } from "./bearer.ts";
import type { FailureLimit } from "./failures.ts";
import type { AuthSettings } from "./settings.ts";
import { requireActive, type Tenants } from "./tenants.ts";
import type { TokenVerifier } from "./tokens.ts";

export interface Authenticator {
  /**
   * @param queryToken whether `?token=` may stand in for the header
   * @param address    of the client, for the limit on failures; null = unknown
   * @throws Problem 401, 429, 503
   */
  identify(request: Request, queryToken: boolean, address: string | null): Promise<Identity>;
  /**
   * The effective tenant's slug; it exists and the request may act in it.
   * @throws Problem 400, 403, 404
   */
  resolveTenant(identity: Identity, headers: Headers, method: string): Promise<string>;
}

export interface AuthenticatorOptions {
  readonly tokens: TokenVerifier;
  readonly tenants: Tenants;
  readonly settings: Pick<AuthSettings, "service_accounts" | "delegation">;
  /** Null in development mode. */
  readonly failures: FailureLimit | null;
}

export function createAuthenticator({ tokens, tenants, settings, failures }: AuthenticatorOptions): Authenticator {
  const allowed = new Map(settings.service_accounts.map((account) => [account.client_id, account.tenants]));
  const mayDelegate = (clientId: string | null, slug: string): boolean => {
    const list = clientId === null ? undefined : allowed.get(clientId);
    return list === undefined || list.includes("*") || list.includes(slug);
  };

  function credentialIdentity(request: Request, queryToken: boolean): Promise<Identity> {
    const token = bearerToken(request.headers, request.url, queryToken);
    if (isApiKey(token)) throw new Problem("invalid_api_key", "The API key is not known");
    return tokens.verify(token);
  }

  async function standing(choice: TenantChoice) {
    const { slug, by } = choice;
    if (by === "team") throw new Problem("not_a_team_member", "The caller is no member of that team");
    const creates =
      by === "home" || (by === "delegated" && settings.delegation.autoprovision && tenantKind(slug) !== "team");
    const status = creates ? await tenants.ensure(slug) : await tenants.status(slug);
    if (status === null) throw new Problem("tenant_not_found", "Tenant not found");
    return status;
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
    async resolveTenant(identity, headers, method) {
      const choice = chooseTenant(
        identity,
        {
          delegated: headers.get("x-tenant-id"),
          switched: headers.get("x-svc-tenant"),
          team: headers.get("x-svc-team"),
        },
        mayDelegate,
      );
      const status = await standing(choice);
      const readsAsAdmin = choice.by === "switched" && (method === "GET" || method === "HEAD");
      if (!readsAsAdmin) requireActive(status);
      return choice.slug;
    },
  };
}
