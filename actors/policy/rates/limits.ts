/** How much may be used in which time: the tiers' defaults and the windows (docs/reference/identity.md). Pure. */
import type { Identity, Tier } from "../../identity/identity.ts";
import { tenantKind } from "../../identity/tenant.ts";

export const resources = ["agent_execution", "workflow_execution", "llm_call", "llm_token"] as const;
export type RateResource = (typeof resources)[number];

export const buckets = ["per_minute", "hourly", "daily", "weekly", "monthly"] as const;
export type RateBucket = (typeof buckets)[number];

/** Units per bucket, in the order of `buckets`. */
type Row = readonly [perMinute: number, hourly: number, daily: number, weekly: number, monthly: number];

const K = 1000;
const M = 1000 * K;

const defaults: Readonly<Record<Tier, Readonly<Record<RateResource, Row>>>> = {
  free: {
    agent_execution: [3, 5, 20, 80, 100],
    workflow_execution: [2, 3, 10, 40, 50],
    llm_call: [20, 100, 500, 2500, 5000],
    llm_token: [20 * K, 100 * K, 500 * K, 2.5 * M, 5 * M],
  },
  pro: {
    agent_execution: [10, 50, 200, 1000, 2000],
    workflow_execution: [5, 25, 100, 500, 1000],
    llm_call: [60, 500, 3 * K, 15 * K, 30 * K],
    llm_token: [100 * K, 500 * K, 3 * M, 15 * M, 30 * M],
  },
  business: {
    agent_execution: [30, 200, 1 * K, 5 * K, 10 * K],
    workflow_execution: [15, 100, 500, 2.5 * K, 5 * K],
    llm_call: [200, 2 * K, 15 * K, 75 * K, 150 * K],
    llm_token: [500 * K, 2.5 * M, 15 * M, 75 * M, 150 * M],
  },
  enterprise: {
    agent_execution: [100, 1 * K, 10 * K, 50 * K, 200 * K],
    workflow_execution: [50, 500, 5 * K, 25 * K, 100 * K],
    llm_call: [500, 10 * K, 100 * K, 500 * K, 1 * M],
    llm_token: [2 * M, 10 * M, 100 * M, 500 * M, 1000 * M],
  },
};

/** Who uses: a person is held to limits of his own beside the tenant's; a caller without a person to the tenant's alone. */
export type RateUser = Pick<Identity, "kind" | "userId">;

export type RateScope = "user" | "tenant" | "source";

/** A limit that an operator set for a tenant, for a person, or for a person in a tenant. Null stands for any. */
export interface RateOverride {
  readonly tenant: string | null;
  readonly user: string | null;
  readonly resource: RateResource;
  readonly bucket: RateBucket;
  readonly limit: number;
  /** Capacity of the per-minute bucket; null: the limit. */
  readonly burst: number | null;
}

/** One bucket that a use is tested against. */
export interface RateRule {
  readonly scope: RateScope;
  readonly bucket: RateBucket;
  readonly limit: number;
  /** What the bucket holds at most. */
  readonly capacity: number;
}

/**
 * Every bucket that a use counts in. For each of them the most particular override holds, else the tier; the tenant's
 * own scope knows no overrides of persons, except where the tenant is one person's.
 * @param tier of the tenant
 */
export function rulesOf(
  tenant: string,
  tier: Tier | "system",
  user: RateUser | null,
  resource: RateResource,
  overrides: readonly RateOverride[],
): RateRule[] {
  const usual = defaults[tier === "system" ? "enterprise" : tier][resource];
  const counted = user === null || user.kind === "service_account" ? null : user;
  const rules = (scope: RateScope, person: string | null): RateRule[] =>
    buckets.map((bucket, index) => {
      const found = overrideFor(tenant, person, resource, bucket, overrides);
      const limit = found?.limit ?? (usual[index] as number);
      return { scope, bucket, limit, capacity: bucket === "per_minute" ? (found?.burst ?? limit) : limit };
    });
  if (counted === null) return rules("tenant", null);
  const owner = counted.kind === "consumer" && tenantKind(tenant) === "consumer" ? counted.userId : null;
  return [...rules("user", counted.userId), ...rules("tenant", owner)];
}

function overrideFor(
  tenant: string,
  user: string | null,
  resource: RateResource,
  bucket: RateBucket,
  overrides: readonly RateOverride[],
): RateOverride | null {
  const among = overrides.filter((one) => one.resource === resource && one.bucket === bucket);
  const at = (ofTenant: string | null, ofUser: string | null) =>
    among.find((one) => one.tenant === ofTenant && one.user === ofUser);
  const personal = user === null ? undefined : (at(tenant, user) ?? at(null, user));
  return personal ?? at(tenant, null) ?? null;
}

/** A fixed window of UTC, Unix ms. The minute is no window: its bucket refills all the time. */
export function windowOf(bucket: Exclude<RateBucket, "per_minute">, now: number): { start: number; end: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const hour = 3_600_000;
  switch (bucket) {
    case "hourly": {
      const start = Math.floor(now / hour) * hour;
      return { start, end: start + hour };
    }
    case "daily": {
      const start = Date.UTC(year, month, day);
      return { start, end: start + 24 * hour };
    }
    case "weekly": {
      // ISO weeks begin on Monday; getUTCDay counts from Sunday.
      const start = Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
      return { start, end: start + 7 * 24 * hour };
    }
    case "monthly":
      return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
  }
}

/** Seconds of a bucket's window as `RateLimit-Policy` gives it; months count as 30 days. */
export const windowSeconds: Readonly<Record<RateBucket, number>> = {
  per_minute: 60,
  hourly: 3600,
  daily: 86_400,
  weekly: 604_800,
  monthly: 2_592_000,
};
