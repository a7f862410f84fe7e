/** What a use found in its buckets, and what the caller is told of it (docs/reference/identity.md). Pure. */

import { Problem } from "../../kernel/problem.ts";
import { iso } from "../../kernel/time.ts";
import type { RateRule } from "./limits.ts";
import { type RateBucket, type RateResource, unlimited } from "./resources.ts";
import { windowOf, windowSeconds } from "./windows.ts";

/** A bucket after the test: what is left in it, units. */
export interface RateFinding {
  readonly rule: RateRule;
  /** After the debit, or as it was when the use was refused. */
  readonly left: number;
}

/** Response headers of a route that debits; none where nothing is limited. */
export type RateHeaders = Readonly<Record<string, string>>;

/** @param told the bucket that they are about; the tightest when absent @param now Unix ms */
export function headersOf(all: readonly RateFinding[], now: number, told?: RateFinding): RateHeaders {
  const findings = all.filter(({ rule }) => rule.limit !== unlimited);
  const [first, ...others] = findings;
  if (first === undefined) return {};
  const tightest = told ?? others.reduce((one, other) => (share(other) < share(one) ? other : one), first);
  const { limit, resource, scope } = tightest.rule;
  const resets = Math.max(now, resetAt(tightest, now));
  const remaining = String(Math.max(0, Math.floor(tightest.left)));
  return {
    "RateLimit-Limit": String(limit),
    "X-RateLimit-Limit": String(limit),
    "RateLimit-Remaining": remaining,
    "X-RateLimit-Remaining": remaining,
    "RateLimit-Reset": String(Math.ceil((resets - now) / 1000)),
    "X-RateLimit-Reset": String(Math.ceil(resets / 1000)),
    "RateLimit-Policy": findings
      .filter(({ rule }) => rule.scope === scope && rule.resource === resource)
      .map(({ rule }) => `${rule.limit};w=${windowSeconds[rule.bucket]}`)
      .join(", "),
  };
}

/** @param findings of a use that not every bucket holds @param now Unix ms */
export function refusal(findings: readonly RateFinding[], now: number): Problem {
  const dry = findings.filter(({ rule, left }) => rule.need > 0 && left < rule.need);
  const longest = dry.reduce((one, other) => (freeAt(other, now) > freeAt(one, now) ? other : one));
  const { resource, bucket, scope, limit } = longest.rule;
  const at = freeAt(longest, now);
  const seconds = Math.max(1, Math.ceil((at - now) / 1000));
  return new Problem(
    "rate_limited",
    `Rate limit reached for ${resource}`,
    {
      resource_type: resource,
      bucket,
      scope_type: scope,
      limit,
      remaining: Math.max(0, Math.floor(longest.left)),
      retry_after_seconds: seconds,
      resets_at: iso(at),
    },
    { ...headersOf(findings, now, longest), "Retry-After": String(seconds) },
  );
}

/** A window of which most is used up. */
export interface RateWarning {
  readonly resource: RateResource;
  readonly bucket: RateBucket;
  readonly scope: RateRule["scope"];
  readonly limit: number;
}

/** How much of a window has to be used for a warning. */
const warningShare = 0.8;

/** The windows that this use took across the line: the first of each window alone. */
export function crossings(findings: readonly RateFinding[]): RateWarning[] {
  return findings.flatMap(({ rule, left }) => {
    const { resource, bucket, scope, limit, take } = rule;
    const line = limit * warningShare;
    const used = limit - left;
    const isCrossed = bucket !== "per_minute" && limit > 0 && take > 0 && used >= line && used - take < line;
    return isCrossed ? [{ resource, bucket, scope, limit }] : [];
  });
}

const share = ({ rule, left }: RateFinding): number => (rule.limit === 0 ? 0 : left / rule.limit);

/** When the bucket is full again, or its window over; Unix ms. */
export function resetAt(
  { rule, left }: Pick<RateFinding, "left"> & { readonly rule: Pick<RateRule, "bucket" | "limit" | "capacity"> },
  now: number,
): number {
  if (rule.bucket !== "per_minute") return windowOf(rule.bucket, now).end;
  return rule.limit <= 0 ? now + 60_000 : now + ((rule.capacity - left) / rule.limit) * 60_000;
}

/** When the bucket holds what was asked for. */
function freeAt({ rule, left }: RateFinding, now: number): number {
  if (rule.bucket !== "per_minute") return windowOf(rule.bucket, now).end;
  // A bucket too small for the use never holds enough; a minute is as good an answer as any.
  if (rule.limit === 0 || rule.capacity < rule.need) return now + 60_000;
  return now + ((rule.need - left) / rule.limit) * 60_000;
}
