/** What of its rates a user or a tenant has used, as it is shown (docs/reference/identity.md). Pure. */
import type { RateLimit } from "./limits.ts";
import { unlimited } from "./resources.ts";
import { resetAt } from "./standing.ts";
import { windowOf, windowSeconds } from "./windows.ts";

/** A bucket and what is left in it; null: nothing of it is counted. */
export interface RateBalance {
  readonly limit: RateLimit;
  readonly left: number | null;
}

/** Units that are used up: of the minute those that have not come back yet, rounded up. */
export function usedOf({ limit: { bucket, limit, capacity }, left }: RateBalance): number {
  if (left === null) return 0;
  return Math.max(0, bucket === "per_minute" ? Math.ceil(capacity - left) : limit - left);
}

/** Where the bucket's window began: of the minute the current one of UTC; Unix ms. */
export const windowStart = ({ bucket }: RateLimit, now: number): number =>
  bucket === "per_minute" ? Math.floor(now / 60_000) * 60_000 : windowOf(bucket, now).start;

/** One bucket as its user sees it. @param now Unix ms */
export function standingIn(balance: RateBalance, now: number) {
  const { limit, left } = balance;
  const used = usedOf(balance);
  const isUnlimited = limit.limit === unlimited;
  return {
    used,
    remaining: isUnlimited ? unlimited : Math.max(0, Math.floor(left ?? limit.limit)),
    /** Of the limit; 1 where nothing is allowed. */
    share: isUnlimited ? 0 : limit.limit === 0 ? 1 : used / limit.limit,
    /** What the minute holds at most; null for every other bucket. */
    burst: limit.bucket === "per_minute" ? limit.capacity : null,
    windowSeconds: windowSeconds[limit.bucket],
    windowStart: windowStart(limit, now),
    resetsAt: Math.ceil(resetAt({ rule: limit, left: left ?? limit.capacity }, now)),
  };
}
