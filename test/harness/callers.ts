/** Callers who are simply believed, for tests of routes. */
import type { Identity } from "../../actors/identity/identity.ts";
import { allScopes } from "../../actors/identity/scopes.ts";
import { Problem } from "../../actors/kernel/problem.ts";
import type { Authenticator } from "../../src/identity/authenticate.ts";

const known = new Map<string, Identity>();

/** Somebody at home in `tenant`, with every scope unless the facts say otherwise. */
export function identityOf(tenant: string, facts: Partial<Identity> = {}): Identity {
  return {
    kind: "service_account",
    userId: `user-of-${tenant}`,
    realm: "test",
    role: null,
    membership: null,
    tier: null,
    homeTenant: tenant,
    clientId: null,
    keyId: null,
    keyDigest: null,
    issuedAt: null,
    email: null,
    bound: null,
    scopes: allScopes,
    ...facts,
  };
}

/** The same as a caller; the answer is the token to call with. */
export function caller(tenant: string, facts: Partial<Identity> = {}): string {
  const token = crypto.randomUUID();
  known.set(token, identityOf(tenant, facts));
  return token;
}

export const believing: Authenticator = {
  async identify(request) {
    const identity = known.get(request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "");
    if (identity === undefined) throw new Problem("invalid_token", "The token is not valid");
    return identity;
  },
  resolveTenant: async (identity) => ({
    slug: identity.homeTenant,
    identity,
    isEntered: false,
    create: null,
  }),
};
