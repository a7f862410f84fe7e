/** Which buckets a use counts in, and how much each of them holds (docs/reference/identity.md). Pure. */
import type { Identity, Tier } from "../../identity/identity.ts";
import { tenantKind } from "../../identity/tenant.ts";
import { buckets, type RateBucket, type RateResource, tierLimit, unlimited } from "./resources.ts";

/** The person whose limits a use counts in beside the tenant's: a subject is one of its realm. */
export interface RateUser {
  readonly realm: string;
  readonly userId: string;
}

/** The person that a caller is held to; null: a machine, which counts in the tenant's buckets alone. */
export function rateUserOf(caller: Pick<Identity, "kind" | "realm" | "userId"> | null): RateUser | null {
  if (caller === null || caller.kind === "service_account") return null;
  return { realm: caller.realm, userId: caller.userId };
}

/** The tenant that a use belongs to. */
export interface RateTenant {
  readonly slug: string;
  readonly tier: Tier | "system";
}

export type RateScope = "user" | "tenant" | "source";

/** A limit that an operator set for a tenant, for a person, or for a person in a tenant. Null stands for any. */
export interface RateOverride {
  readonly tenant: string | null;
  readonly user: RateUser | null;
  /** The consumer's tenant that the person owns; null: none, or no person. */
  readonly owns: string | null;
  readonly resource: RateResource;
  readonly bucket: RateBucket;
  /** `unlimited`: none. */
  readonly limit: number;
  /** Capacity of the per-minute bucket; null: the limit. */
  readonly burst: number | null;
}

/** What a use asks of the buckets of a resource. */
export interface RateDemand {
  readonly resource: RateResource;
  /** What has to be left in every bucket, units; 0: nothing is tested. */
  readonly need: number;
  /** What is taken out of every bucket; below 0 it is given back. */
  readonly take: number;
}

export const demands = {
  /** So many whole units. */
  of: (resource: RateResource, units = 1): RateDemand => ({ resource, need: units, take: units }),
  /** Something has to be left; what is used is known later. */
  balance: (resource: RateResource): RateDemand => ({ resource, need: 1e-6, take: 0 }),
  /** What was used, also beyond what is left. */
  settled: (resource: RateResource, units: number): RateDemand => ({ resource, need: 0, take: units }),
  returned: ({ resource, take }: RateDemand): RateDemand => ({ resource, need: 0, take: -take }),
};

/** How much a bucket holds for one user or tenant. */
export interface RateLimit {
  readonly resource: RateResource;
  readonly scope: RateScope;
  readonly bucket: RateBucket;
  /** `unlimited`: counted, never refused. */
  readonly limit: number;
  /** What the bucket holds at most. */
  readonly capacity: number;
}

/** One bucket that a use is tested against. */
export interface RateRule extends RateLimit, Pick<RateDemand, "need" | "take"> {}

/**
 * Every bucket of a resource that a use counts in. For each of them the most particular override holds, else the tier;
 * the tenant's own scope knows no overrides of persons, except those of its owner where it is one person's.
 */
export function limitsOf(
  tenant: RateTenant,
  user: RateUser | null,
  resource: RateResource,
  overrides: readonly RateOverride[],
): RateLimit[] {
  const among = overrides.filter((one) => one.resource === resource);
  const limits = (scope: RateScope, isPerson: (override: RateOverride) => boolean): RateLimit[] =>
    buckets.map((bucket) => {
      const found = overrideFor(
        tenant.slug,
        isPerson,
        among.filter((one) => one.bucket === bucket),
      );
      const limit = found?.limit ?? tierLimit(tenant.tier, resource, bucket);
      return { resource, scope, bucket, limit, capacity: bucket === "per_minute" ? (found?.burst ?? limit) : limit };
    });
  const isOwned = tenantKind(tenant.slug) === "consumer";
  const ofTenant = limits("tenant", ({ owns }) => isOwned && owns === tenant.slug);
  if (user === null) return ofTenant;
  const isUser = (one: RateOverride) => one.user?.userId === user.userId && one.user.realm === user.realm;
  return [...limits("user", isUser), ...ofTenant];
}

/** A bucket as a use is tested against it: an unlimited one is not. */
export function ruleOf(limit: RateLimit, { need, take }: Pick<RateDemand, "need" | "take">): RateRule {
  return { ...limit, need: limit.limit === unlimited ? 0 : need, take };
}

function overrideFor(
  tenant: string,
  isPerson: (override: RateOverride) => boolean,
  among: readonly RateOverride[],
): RateOverride | undefined {
  const personal = among.filter(isPerson);
  return (
    personal.find((one) => one.tenant === tenant) ??
    personal.find((one) => one.tenant === null) ??
    among.find((one) => one.tenant === tenant && one.user === null)
  );
}
