/** What was used of rates: of a caller, and of anybody for operators. */
import { limitsOf, type RateUser, rateUserOf, ruleOf } from "../../../actors/policy/rates/limits.ts";
import { type RateResource, resources } from "../../../actors/policy/rates/resources.ts";
import { headersOf, type RateFinding, type RateHeaders } from "../../../actors/policy/rates/standing.ts";
import type { RateBalance } from "../../../actors/policy/rates/usage.ts";
import type { TellRates } from "../../http/route.ts";
import type { Limiter } from "./limiter.ts";
import type { Standings } from "./standings.ts";

/** Every bucket of every resource that a user or a tenant counts in, with what is left of it. */
export type Balances = (tenant: string, user: RateUser | null) => Promise<RateBalance[]>;

export interface BalancesOptions {
  readonly standings: Pick<Standings, "of">;
  readonly limiter: Pick<Limiter, "look">;
}

/** Reads cost nothing. @throws Problem 503 `limiter_unavailable` */
export function createBalances({ standings, limiter }: BalancesOptions): Balances {
  return async (slug, user) => {
    const { tier, overrides } = await standings.of(slug, user);
    const limits = resources.flatMap((resource) => limitsOf({ slug, tier }, user, resource, overrides));
    const left = await limiter.look(slug, user, limits);
    return limits.map((limit, index) => ({ limit, left: left[index] ?? null }));
  };
}

/**
 * How a caller stands with a resource, as headers of an answer that debits nothing. Never throws.
 * @see TellRates of src/http/route.ts
 */
export function tellRates({ standings, limiter, now }: BalancesOptions & { readonly now: () => number }) {
  async function told(tenant: string, user: RateUser | null, resource: RateResource): Promise<RateHeaders> {
    const { tier, overrides } = await standings.of(tenant, user);
    const limits = limitsOf({ slug: tenant, tier }, user, resource, overrides);
    const left = await limiter.look(tenant, user, limits);
    const findings = limits.flatMap((limit, index): RateFinding[] => {
      const found = left[index] ?? null;
      return found === null ? [] : [{ rule: ruleOf(limit, { need: 0, take: 0 }), left: found }];
    });
    return headersOf(findings, now());
  }
  return (resource: RateResource): TellRates =>
    async ({ identity, tenant }) =>
      told(tenant, rateUserOf(identity), resource).catch(() => ({}));
}

/** As records name them: `<tenant>:<realm>:<subject>`, or the tenant's slug. */
export const scopeId = (tenant: string, user: RateUser | null): string =>
  user === null ? tenant : `${tenant}:${user.realm}:${user.userId}`;

/** The other way round; a realm's name holds no colon. Null for what names no user. */
export function readScopeId(scope: "tenant" | "user", id: string): { tenant: string; user: RateUser | null } | null {
  if (scope === "tenant") return { tenant: id, user: null };
  const [, tenant, realm, userId] = /^([^:]+):([^:]+):(.+)$/s.exec(id) ?? [];
  return tenant === undefined || realm === undefined || userId === undefined
    ? null
    : { tenant, user: { realm, userId } };
}
